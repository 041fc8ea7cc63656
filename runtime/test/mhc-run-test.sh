#!/bin/sh
# Runs mhc-run on the hand-written test model: mhc-run-test.sh <mhc-run> <model>
set -eu
run=$1 model=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# expect <status> <text> <arguments...>: the exit status, and a text that the output has
expect() {
  status=$1 text=$2
  shift 2
  got=0
  "$run" "$@" >output 2>&1 || got=$?
  if [ "$got" != "$status" ] || ! grep -qF -- "$text" output; then
    echo "mhc-run $*: exit status $got (wanted $status), wanted '$text' in:"
    cat output
    exit 1
  fi
}

# npy <file> <descr> <shape> <printf format of the values>
npy() {
  header="{'descr': '$2', 'fortran_order': False, 'shape': $3, }"
  { printf '\223NUMPY\001\000'; printf "\\$(printf %o ${#header})\\000"; printf '%s' "$header"; printf "$4"; } >"$1"
}

npy x.npy '<f4' '(1, 2)' '\000\000\200\077\000\000\000\100'                       # 1 2
npy x64.npy '<f8' '(1, 2)' '\000\000\000\000\000\000\360\077\000\000\000\000\000\000\000\100'
npy good.npy '<f4' '(1, 3, 2)' "$(printf '\\000\\000\\200\\077\\000\\000\\000\\100%.0s' 1 2 3)"
npy bad.npy '<f4' '(1, 3, 2)' "$(printf '\\000\\000\\200\\077\\000\\000\\200\\077%.0s' 1 2 3)"
npy flat.npy '<f4' '(2,)' '\000\000\200\077\000\000\000\100'

expect 0 'argument x                bf16[M,4,64]' "$model" --list
expect 0 'out: f32[1,3,2]' "$model" --entry widen --arg x.npy
expect 0 'out: match, max abs error 0' "$model" --entry=widen --arg x=x.npy --expect out=good.npy
expect 1 'out: 3 values differ, the first at [0,0,1]: got 2, expected 1' "$model" --entry widen --arg x.npy --expect bad.npy
expect 0 'out: match' "$model" --entry widen --arg x.npy --expect bad.npy --tolerance 2
expect 0 'of 3 runs on 2 threads; 1 kernel, 0 allocations per run' "$model" --entry widen --arg x.npy --time=3 --threads 2 --out out.npy
expect 0 'of 1 run on 1 thread; 1 kernel' "$model" --entry widen --arg x.npy --time=1 --threads 1
expect 0 'out: match' "$model" --entry widen --arg x.npy --expect out.npy
expect 2 "'x64.npy' holds f64; needed f32 (--convert rounds it)" "$model" --entry widen --arg x64.npy
expect 0 "note: argument 'x' converted from f64 to f32" "$model" --entry widen --arg x64.npy --convert --expect good.npy
expect 2 "expected f32[M,C], found f32[2]" "$model" --entry widen --arg flat.npy
expect 2 "no entry 'layer'; the model has 'weigh', 'widen'" "$model" --entry layer
expect 2 "--entry is needed: the model has 'weigh', 'widen'" "$model"
expect 2 "no file for argument 'x' (f32[M,C]); give --arg x=FILE.npy" "$model" --entry widen
expect 2 "no argument 'y'; the entry has 'x'" "$model" --entry widen --arg y=x.npy
expect 2 "is one too many; the entry has 1 argument: 'x'" "$model" --entry widen --arg x.npy --arg x.npy
expect 2 "argument 'x' is given twice: 'x.npy' and 'x64.npy'" "$model" --entry widen --arg x.npy --arg x=x64.npy
expect 2 "'none.npy': No such file or directory" "$model" --entry widen --arg none.npy
expect 2 "cannot load the model 'none.so'" none.so
expect 2 "unknown option '--fast'; see --help" "$model" --fast
expect 2 "'--threads' is 'many'; needed 1 to 1024" "$model" --threads many
expect 0 'Exit status: 0 good' --help

# A safetensors file, by name.
header='{"x":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"other":{"dtype":"F32","shape":[0],"data_offsets":[8,8]}}'
{ printf "\\$(printf %o ${#header})\\000\\000\\000\\000\\000\\000\\000"; printf '%s' "$header"; printf '\000\000\200\077\000\000\000\100'; } >x.safetensors
expect 0 'out: match' "$model" --entry widen --args x.safetensors --expect good.npy
echo passed
