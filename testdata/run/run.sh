#!/usr/bin/env bash
# Tails the sample logs with the distribution given as $1 until nothing was
# printed for IDLE seconds (default 20), then stops it in good order. Ctrl-C
# stops it earlier. build/run/output.txt keeps what was printed.
set -euo pipefail
cd "$(dirname "$0")/../.."
binary=${1:?usage: run.sh PATH/TO/otelcol-filelog}
idle=${IDLE:-20}
mkdir -p build/run/logs build/run/state
output=build/run/output.txt
: >"$output"

"$binary" --config testdata/run/config.yaml > >(tee -a "$output") 2>&1 &
collector=$!
trap 'kill -TERM "$collector" 2>/dev/null || true' INT TERM EXIT

size=-1 quiet=0
while kill -0 "$collector" 2>/dev/null; do
  sleep 1
  now=$(wc -c <"$output")
  if [ "$now" -eq "$size" ]; then quiet=$((quiet + 1)); else quiet=0 size=$now; fi
  if [ "$quiet" -ge "$idle" ]; then
    echo "Nothing new for $idle seconds: stopping. Run again, and only what is new will be printed."
    kill -TERM "$collector"
    break
  fi
done
status=0
wait "$collector" || status=$?
trap - INT TERM EXIT
exit "$status"
