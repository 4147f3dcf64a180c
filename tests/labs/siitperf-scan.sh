#!/bin/bash
# Tables as siitperf's users write them: frame loss at several rates, then latency and PDV at one,
# by the text that the tester prints. Started where siitperf.conf and build/ are; writes *.csv.

ipv6size=84
rates=${1:-"2000 1500 1000"}
rate=${2:-1000}     # of latency and PDV
repeats=${3:-3}
xpts=1              # duration of a trial in seconds
timeout=200         # global timeout in milliseconds
n=2
m=2

loss() { awk -v sent=$((r * xpts)) -v got="$1" 'BEGIN {print (sent - got) * 100 / sent}'; }

echo "rate,fwd loss,rev loss" > frame-loss.csv
for r in $rates; do
    ./build/siitperf-tp $ipv6size $r $xpts $timeout $n $m > temp.out 2>&1
    fwd=$(grep 'Forward frames received:' temp.out | awk '{print $4}')
    rev=$(grep 'Reverse frames received:' temp.out | awk '{print $4}')
    echo "$r,$(loss $fwd),$(loss $rev)" >> frame-loss.csv
done

echo "no,fwd TL,fwd WCL,rev TL,rev WCL" > latency.csv
for ((i = 1; i <= repeats; i++)); do
    ./build/siitperf-lat $ipv6size $rate 2 $timeout $n $m 1 500 > temp.out 2>&1
    row=$i
    for side in Forward Reverse; do
        for figure in TL WCL; do
            row="$row,$(grep "$side $figure:" temp.out | awk '{print $3}')"
        done
    done
    echo "$row" >> latency.csv
done

echo "no,fwd PDV,rev PDV" > pdv.csv
for ((i = 1; i <= repeats; i++)); do
    ./build/siitperf-pdv $ipv6size $rate $xpts $timeout $n $m 0 > temp.out 2>&1
    fwd=$(grep 'Forward PDV:' temp.out | awk '{print $3}')
    rev=$(grep 'Reverse PDV:' temp.out | awk '{print $3}')
    echo "$i,$fwd,$rev" >> pdv.csv
done
