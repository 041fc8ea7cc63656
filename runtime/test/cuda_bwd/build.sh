#!/bin/sh
# build.sh OUT [NVCC OPTIONS]: the harness, from this folder.
set -e
out=$1
shift
cd "$(dirname "$0")"
nvcc -gencode=arch=compute_90a,code=sm_90a -O3 -std=c++17 -I../.. -I../../include "$@" -o "$out" \
  Main.cu Case.cu Reference.cu ../../cuda/stream_bwd_sm90.cu ../../cuda/pre_bwd_reduce_sm90.cu \
  ../../cuda/weight_grad_sm90.cu ../../cuda/pre_bwd_passes_sm90.cu ../../cuda/projection_bwd_passes_sm90.cu \
  ../../cuda/Needs.cpp ../../src/CallState.cpp
