//===- Edits.h - The changes that make near misses ------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each changes one place, drawn at random, and leaves all others alone. False when there is no place that fits. The
// table in NearMiss.cpp says what they are called.
//
//===----------------------------------------------------------------------===//
#ifndef MHC_LIB_CONFORMANCE_EDITS_H
#define MHC_LIB_CONFORMANCE_EDITS_H

#include "Editor.h"

namespace mhc::conformance {

// SinkhornEdits.cpp
bool epsOnce(Editor &e);
bool epsMissingOnce(Editor &e);
bool epsNegative(Editor &e);
bool epsMoved(Editor &e);
bool clampForAdd(Editor &e);
bool epsRelative(Editor &e);
bool numberOnce(Editor &e);
bool stepMissing(Editor &e);
bool stepTwice(Editor &e);
bool stepExtra(Editor &e);
bool olderMatrix(Editor &e);
bool sameAxisTwice(Editor &e);
bool orderSwappedOnce(Editor &e);
bool earlierMatrix(Editor &e);
bool turnCountOnce(Editor &e);
bool otherFactors(Editor &e);
bool maximumOfTokens(Editor &e);
bool softmaxAxis(Editor &e);
bool softmaxTemperature(Editor &e);
bool permutationTable(Editor &e);

// SumEdits.cpp
bool sumAxis(Editor &e);
bool sumOfPart(Editor &e);
bool sumForMean(Editor &e);
bool maxForSum(Editor &e);
bool meanOverChannels(Editor &e);
bool normOverTokens(Editor &e);
bool rootMissing(Editor &e);
bool cubeForSquare(Editor &e);
bool squareOfTwo(Editor &e);
bool normOfPart(Editor &e);
bool factorTwice(Editor &e);
bool factorMissing(Editor &e);
bool quotientForProduct(Editor &e);
bool termTwice(Editor &e);
bool termMissing(Editor &e);
bool termSubtracted(Editor &e);
bool maximumForSum(Editor &e);
bool scaleAfterBias(Editor &e);
bool vectorPerToken(Editor &e);

// GatedDeltaEdits.cpp
bool tapOfLaterToken(Editor &e);
bool tapFurtherBack(Editor &e);
bool circularTap(Editor &e);
bool tapsReversed(Editor &e);
bool meanForSum(Editor &e);
bool epsOutsideOfRoot(Editor &e);
bool normAtLeastEps(Editor &e);
bool headsInTurn(Editor &e);
bool queryAndKeyExchanged(Editor &e);
bool betaAndAlphaExchanged(Editor &e);
bool decayWithoutMinus(Editor &e);
bool otherThreshold(Editor &e);

// UseEdits.cpp
bool tanhForSigmoid(Editor &e);
bool signInSigmoid(Editor &e);
bool sigmoidTwice(Editor &e);
bool otherGate(Editor &e);
bool otherMatrix(Editor &e);
bool otherStreams(Editor &e);
bool otherRow(Editor &e);
bool otherParameter(Editor &e);
bool sliceOffByOne(Editor &e);
bool slicesExchanged(Editor &e);
bool concatExchanged(Editor &e);
bool matrixTransposedOnce(Editor &e);
bool squareTransposed(Editor &e);
bool productFlag(Editor &e);
bool streamsRotated(Editor &e);
bool streamRepeated(Editor &e);
bool streamsInterleaved(Editor &e);
bool meanOfTokens(Editor &e);
bool tanhOnce(Editor &e);
bool negatedOnce(Editor &e);
bool doubledOnce(Editor &e);
bool positiveOnce(Editor &e);
bool shiftedOnce(Editor &e);
bool roundsToBf16(Editor &e);
bool roundsToF16(Editor &e);

} // namespace mhc::conformance

#endif // MHC_LIB_CONFORMANCE_EDITS_H
