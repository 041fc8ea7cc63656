// RUN: mhc-opt %s -verify-diagnostics -mhc-pipeline-split=stages=0

// expected-error @below {{'stages' is 0; needed at least 1}}
module {
}
