#!/bin/bash
# The capacity of a stateful gateway's connection tracking table, as siitperf's users measure it:
# the number of connections is doubled until they do not all exist, then bisected. They exist if
# each of phase 1 arrives, and the responder then reaches each. By the text that the tester prints.
# Started where siitperf.conf (Forward 0, Responder-ports 1) and build/ are.

safe=${1:-1000}     # connections that are surely taken
most=${2:-64000}    # combinations that siitperf.conf has
R=${3:-2500}        # phase 1's rate, connections a second
ipv6size=84         # frame size in bytes
xpts=2              # duration of phase 2 in seconds
timeout=500         # global timeout in milliseconds
prelim_timeout=200  # T
n=2
m=2
tries=5             # of a test that is invalid

fits() { # connections; the status says whether all of them exist
    delay=$((1000 * $1 / R + prelim_timeout + 100))
    for ((try = 1; try <= tries; try++)); do
        ./build/siitperf-tp $ipv6size $((($1 + xpts - 1) / xpts)) $xpts $timeout $n $m \
            $1 $1 $R $prelim_timeout $delay > temp.out 2>&1
        failed=$(grep 'Failed to fill state table' temp.out)
        if [ -z "$failed" ] && grep -q 'Error:' temp.out; then
            echo "The tester reported: $(grep 'Error:' temp.out)"
            exit 1
        fi
        invalid=$(grep 'the test is invalid' temp.out)
        [ -z "$invalid" ] && break
    done
    if [ -n "$invalid" ]; then
        echo "The tester can say nothing of $1 connections: $invalid"
        exit 1
    fi
    sent=$(grep 'Preliminary frames sent:' temp.out | awk '{print $4}')
    rec=$(grep 'Preliminary frames received:' temp.out | awk '{print $4}')
    if [ -n "$failed" ]; then
        echo "$1: preliminary $rec of $sent"
        return 1
    fi
    rev_sent=$(grep 'Reverse frames sent:' temp.out | awk '{print $4}')
    rev_rec=$(grep 'Reverse frames received:' temp.out | awk '{print $4}')
    echo "$1: preliminary $rec of $sent, reverse $rev_rec of $rev_sent"
    [ "$rec" -eq "$sent" ] && [ "$rev_rec" -eq "$rev_sent" ]
}

l=0
h=$safe
while fits $h; do
    l=$h
    if [ $l -eq $most ]; then
        echo "Capacity: at least $l"
        exit 0
    fi
    h=$((2 * l < most ? 2 * l : most))
done
if [ $l -eq 0 ]; then
    echo "Not even $safe connections exist"
    exit 1
fi
while [ $((h - l)) -gt 1 ]; do
    c=$(((h + l) / 2))
    if fits $c; then l=$c; else h=$c; fi
done
echo "Capacity: $l"
