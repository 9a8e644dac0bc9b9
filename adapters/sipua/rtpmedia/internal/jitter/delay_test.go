package jitter_test

import (
	"slices"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/jitter"
)

func TestDelayFollowsTheNetwork(t *testing.T) {
	t.Parallel()
	uneven := func(i int) time.Duration { // up to 70 ms, between 10 s and 20 s
		if i >= 500 && i < 1000 {
			return time.Duration(i*37%71) * ms
		}
		return 0
	}
	p := newPlayer(20*ms, 120*ms)
	all := packets(tone(8000*40), frame, 1, 1, uneven)
	delayAt := func(from, to time.Duration) time.Duration {
		var due []arrival
		for _, a := range all {
			if a.at >= from && a.at < to {
				due = append(due, a)
			}
		}
		play(p, due, from, int((to-from)/(20*ms)))
		return p.Delay()
	}
	if d := delayAt(0, 10*time.Second); d != 20*ms {
		t.Errorf("on an even network %s", d)
	}
	if d := delayAt(10*time.Second, 20*time.Second); d < 65*ms || d > 80*ms {
		t.Errorf("with 70 ms of jitter %s", d)
	}
	if d := delayAt(20*time.Second, 40*time.Second); d > 25*ms {
		t.Errorf("after the network has calmed down %s", d)
	}
}

// TestPlayoutWaitsForTheSlow checks that the delay adapts to a network on which every tenth packet is 90 ms late. The player may miss such
// packets only in the first five seconds.
func TestPlayoutWaitsForTheSlow(t *testing.T) {
	t.Parallel()
	all := packets(tone(8000*20), frame, 1, 1, func(i int) time.Duration {
		if i%10 == 9 {
			return 90 * ms
		}
		return 0
	})
	slices.SortStableFunc(all, func(a, b arrival) int { return int(a.at - b.at) })
	p := newPlayer(20*ms, 120*ms)
	var early, late int
	for k := range 1000 {
		now := time.Duration(k) * 20 * ms
		for len(all) > 0 && all[0].at <= now {
			if p.Push(all[0].at, all[0].sequence, all[0].timestamp, 0, all[0].payload) == jitter.Late {
				if early++; now > 5*time.Second {
					late++
				}
			}
			all = all[1:]
		}
		p.Frame(nil, now)
	}
	if early == 0 || late != 0 {
		t.Errorf("%d packets were missed, %d of them after five seconds", early, late)
	}
}

// heardAfter returns the time between the sending and the playout of the first packet of a range. The parameter from is the number of that
// packet, and to is the number of the packet after the range. If the packets of the range are not heard exactly, heardAfter fails the test.
func heardAfter(t *testing.T, heard, said []int16, from, to int) time.Duration {
	t.Helper()
	at := indexOf(heard, said[from*frame:to*frame])
	if at < 0 {
		t.Fatalf("packets %d to %d are not heard exactly", from, to)
	}
	return time.Duration(at-(from+1)*frame) * time.Second / 8000
}

// TestPlayoutCatchesUp checks that the player omits audio until the delay is small again, after late first packets have delayed the start
// of the playout.
func TestPlayoutCatchesUp(t *testing.T) {
	t.Parallel()
	for _, late := range []time.Duration{100 * ms, 250 * ms, 900 * ms} {
		said := tone(8000 * 10)
		all := packets(said, frame, 1, 1, func(i int) time.Duration { return max(late-time.Duration(i)*20*ms, 0) })
		heard := play(newPlayer(20*ms, 120*ms), all, 0, 520)
		if d := heardAfter(t, heard, said, 450, 490); d > 60*ms {
			t.Errorf("%s late at the beginning: %s at the end", late, d)
		}
	}
}

// TestPlayoutCatchesUpInAPause checks that the player shortens a pause of the sender to catch up, and omits no audio.
func TestPlayoutCatchesUpInAPause(t *testing.T) {
	t.Parallel()
	said := tone(100 * frame)
	all := packets(said, frame, 1, 1, func(i int) time.Duration { return max(60*ms-time.Duration(i)*20*ms, 0) })
	for i := 50; i < len(all); i++ {
		all[i].sequence -= 46
	}
	all = slices.Delete(all, 4, 50)
	heard := play(newPlayer(20*ms, 20*ms), all, 0, 110)
	if d := heardAfter(t, heard, said, 0, 4); d < 80*ms {
		t.Errorf("before the pause: %s", d)
	}
	after := indexOf(heard, said[50*frame+32:]) // the first 4 ms are blended with the concealment
	if d := time.Duration(after-51*frame-32) * time.Second / 8000; after < 0 || d > 60*ms {
		t.Errorf("after the pause: %s", d)
	}
}

func TestSenderWithAFastClock(t *testing.T) {
	t.Parallel()
	said := tone(8000 * 100)
	all := packets(said, frame, 1, 1, func(i int) time.Duration { return -time.Duration(i) * 10 * time.Microsecond }) // 500 ppm fast
	heard := play(newPlayer(20*ms, 120*ms), all, 0, 5000)
	if at := indexOf(heard, said[len(said)-200*frame:len(said)-180*frame]); at < 0 {
		t.Error("the playout has lost the sender")
	}
}
