#!/bin/bash
# A stateful gateway, as siitperf's users measure it: the maximum connection establishment rate by
# binary search over R, and the throughput of phase 2 with a phase 1 at half of that. Both by the
# text that the tester prints. Started where siitperf.conf and build/ are.

conns=${1:-2000}    # N and M: test frames of phase 1, entries of the state table
maxR=${2:-40000}    # upper end of the search over R, frames a second
errorR=${3:-10000}  # how close is close enough
max=${4:-4000}      # the same for the throughput
error=${5:-1000}
ipv6size=84         # frame size in bytes
xpts=1              # duration of a trial in seconds
timeout=200         # global timeout in milliseconds
prelim_timeout=200  # T
n=2
m=2
tries=5             # of a test that is invalid, or of a phase 1 that was not complete

run() { # frame rate of phase 2, R
    delay=$((1000 * conns / $2 + prelim_timeout + 100))
    for ((try = 1; try <= tries; try++)); do
        ./build/siitperf-tp $ipv6size $1 $xpts $timeout $n $m \
            $conns $conns $2 $prelim_timeout $delay > temp.out 2>&1
        if grep -q 'Input Error:' temp.out; then
            echo "Wrong input: $(grep 'Input Error:' temp.out)"
            exit 1
        fi
        failed=$(grep 'Failed to fill state table' temp.out)
        if [ -z "$failed" ] && grep -q 'Error:' temp.out; then
            echo "The tester reported: $(grep 'Error:' temp.out)"
            exit 1
        fi
        invalid=$(grep 'the test is invalid' temp.out)
        [ -z "$invalid" ] && return
    done
    echo "The tester is too slow at $1, R $2: $invalid"
    exit 1
}

l=0
h=$maxR
while [ $((h - l)) -gt $errorR ]; do
    R=$(((h + l + 1) / 2))
    run 500 $R
    sent=$(grep 'Preliminary frames sent:' temp.out | awk '{print $4}')
    rec=$(grep 'Preliminary frames received:' temp.out | awk '{print $4}')
    echo "R $R: preliminary $rec of $sent"
    if [ "$rec" -eq "$sent" ]; then
        l=$R
    else
        echo "R $R: $failed"
        h=$((R - 1))
    fi
done
echo "Maximum connection establishment rate: $l"
[ $l -eq 0 ] && exit 0

R=$((l / 2))
l=0
h=$max
while [ $((h - l)) -gt $error ]; do
    r=$(((h + l + 1) / 2))
    for ((again = 1; again <= tries; again++)); do
        run $r $R
        [ -z "$failed" ] && break
    done
    if [ -n "$failed" ]; then
        echo "Phase 1 fails at half of its rate: $failed"
        exit 1
    fi
    fwd_sent=$(grep 'Forward frames sent:' temp.out | awk '{print $4}')
    fwd_rec=$(grep 'Forward frames received:' temp.out | awk '{print $4}')
    rev_sent=$(grep 'Reverse frames sent:' temp.out | awk '{print $4}')
    rev_rec=$(grep 'Reverse frames received:' temp.out | awk '{print $4}')
    echo "$r: forward $fwd_rec of $fwd_sent, reverse $rev_rec of $rev_sent"
    if [ "$fwd_rec" -eq "$fwd_sent" ] && [ "$rev_rec" -eq "$rev_sent" ]; then
        l=$r
    else
        h=$((r - 1))
    fi
done
echo "Throughput: $l"
