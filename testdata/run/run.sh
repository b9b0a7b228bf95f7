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
pidfile=build/run/pid

# A run whose terminal went away may still hold the positions.
if [ -f "$pidfile" ]; then
  before=$(cat "$pidfile")
  if ps -p "$before" -o args= 2>/dev/null | grep -q "testdata/run/config.yaml"; then
    echo "Stopping the run that is still going on (process $before)."
    kill -TERM "$before"
    for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$before" 2>/dev/null && sleep 1; done
  fi
fi

: >"$output"
echo "$$" >"$pidfile" # which is the Collector's from the exec below on
(
  size=-1 quiet=0
  while kill -0 "$$" 2>/dev/null; do
    sleep 1
    now=$(wc -c <"$output")
    if [ "$now" -eq "$size" ]; then quiet=$((quiet + 1)); else quiet=0 size=$now; fi
    if [ "$quiet" -ge "$idle" ]; then
      echo "Nothing new for $idle seconds: stopping. Run again, and only what is new will be printed."
      kill -TERM "$$"
      exit
    fi
  done
) &

echo "Tailing testdata/logs and build/run/logs. Another terminal: echo hello >> build/run/logs/mine.log"
exec "$binary" --config testdata/run/config.yaml > >(tee -a "$output") 2>&1
