# graph-bits.sh MHC-RUN PYTHON ARGUMENTS.PY FOLDER MODEL ENTRY: the results of FOLDER/MODEL.so on random arguments have the
# same bits from calls and from a replayed graph.
set -eu
run=$1 python=$2 arguments=$3 folder=$4 model=$5 entry=$6
cd "$folder"
"$run" "$model.so" --list | "$python" "$arguments" "$model" random
results=$("$run" "$model.so" --list | awk -v entry="$entry" '$1 == "entry" { found = $2 == entry } found && $1 == "result" { print $2 }')
calls="" replay=""
for result in $results; do
  calls="$calls --out $result=$model/calls.$entry.$result.npy"
  replay="$replay --out $result=$model/replay.$entry.$result.npy"
done
"$run" "$model.so" --entry "$entry" --args "$model" $calls
"$run" "$model.so" --entry "$entry" --args "$model" $replay --cuda-graph
for result in $results; do
  cmp "$model/calls.$entry.$result.npy" "$model/replay.$entry.$result.npy"
done
echo "$model $entry: $(echo $results | wc -w) results of the same bits"
