#!/bin/bash
# Throughput by binary search, as siitperf's users write it: the largest rate at which all frames
# come back, by the text that the tester prints. Started where siitperf.conf and build/ are.

ipv6size=${1:-84}   # frame size in bytes
max=${2:-8000}      # upper end of the search, frames a second
error=${3:-500}     # how close is close enough
xpts=1              # duration of a trial in seconds
timeout=200         # global timeout in milliseconds
n=2
m=2
tries=5             # of a test that is invalid

l=0
h=$max
while [ $((h - l)) -gt $error ]; do
    r=$(((h + l + 1) / 2))
    for ((try = 1; try <= tries; try++)); do
        ./build/siitperf-tp $ipv6size $r $xpts $timeout $n $m > temp.out 2>&1
        failure=$(grep 'Error:' temp.out)
        if [ -n "$failure" ]; then
            echo "The tester reported: $failure"
            exit 1
        fi
        invalid=$(grep 'invalid' temp.out)
        [ -z "$invalid" ] && break
    done
    if [ -n "$invalid" ]; then
        echo "The tester is too slow at $r: $invalid"
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
