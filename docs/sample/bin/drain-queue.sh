#!/bin/sh
# Look at the queue of tracking events, or pause a carrier that floods it.
#   drain-queue.sh --by-carrier     events waiting, by carrier
#   drain-queue.sh --pause NAME     stop taking events of NAME; they stay in the queue
#   drain-queue.sh --resume NAME
set -eu

case "${1:-}" in
    --by-carrier)
        curl -fsS "$KESTREL_QUEUE_URL/stats" | sort -k2 -nr
        ;;
    --pause | --resume)
        curl -fsS -X POST "$KESTREL_QUEUE_URL/carriers/$2/${1#--}"
        ;;
    *)
        sed -n '2,5s/^# //p' "$0"
        exit 2
        ;;
esac
