package rtpmedia_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// strain is one RTP source of a peer, with a separate SSRC, timestamp and sequence number.
type strain struct {
	ssrc, timestamp uint32
	sequence        uint16
}

// TestChangesOfSource checks the change of the RTP source at the answer and during a call, with late packets of the former sources. The
// audio of each source must be complete, each key press must be one digit even if its packets come from two sources, and the statistics
// must show no loss.
func TestChangesOfSource(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := newPeer(t)
		at, events := p.call.callerAt, p.call.callees.Events.Receive
		seed := rapid.Uint32Range(0, 1<<20).Draw(rt, "SSRC")
		var former []strain
		pressed, received := "", uint64(0)
		var begins []int // index in the received audio at which each source begins
		var whole [][]int16
		sources, goesOn := rapid.IntRange(2, 5).Draw(rt, "sources"), -1
		for i := range sources {
			s := strain{
				ssrc: seed + uint32(i)*7919, timestamp: rapid.Uint32().Draw(rt, "timestamp"),
				sequence: rapid.Uint16().Draw(rt, "sequence"),
			}
			count := rapid.IntRange(8, 40).Draw(rt, "packets")
			said := strained(count, i)
			straggling := 0
			if i > 0 {
				straggling = rapid.IntRange(0, min(5, count)).Draw(rt, "stragglers of each source before")
			}
			key, begin, held := goesOn, 0, 0
			if goesOn >= 0 {
				held, goesOn = 6, -1 // continues the press of the former source
			} else if count > 12 && rapid.Bool().Draw(rt, "presses a key") {
				key, begin = rapid.IntRange(0, 9).Draw(rt, "key"), rapid.IntRange(0, 5).Draw(rt, "from packet")
				pressed += fmt.Sprint(key)
			}
			cut := key >= 0 && held == 0 && i < sources-1 && rapid.Bool().Draw(rt, "held over the change")
			if cut {
				begin, goesOn = count-5, key
			}
			heard := len(p.heard)
			for n := range count {
				p.send(at, s.ssrc, s.sequence, s.timestamp+uint32(n)*160, frameOf(said, n))
				s.sequence++
				received++
				for k := range former {
					if n < straggling {
						p.send(at, former[k].ssrc, former[k].sequence, former[k].timestamp+uint32(n)*160, frameOf(said, 0))
						former[k].sequence++
					}
				}
				if key >= 0 && n >= begin && n < begin+6 {
					last := byte(0)
					if n > begin+2 && !cut {
						last = 0x80
					}
					p.sendAs(events, at, s.ssrc, s.sequence, s.timestamp+uint32(begin)*160, eventOf(key, held+n-begin+1, last))
					s.sequence++
					received++
				}
				p.hear()
			}
			s.timestamp += uint32(count) * 160
			former = append(former, s)
			begins, whole = append(begins, heard), append(whole, said)
		}
		for range 5 {
			p.hear()
		}
		for i, said := range whole {
			if !containsRun(p.heard[begins[i]:], said) {
				rt.Fatalf("source %d of %d packets is not heard whole", i, len(said)/160)
			}
		}
		if string(p.digits) != pressed {
			rt.Fatalf("digits %q, want %q", p.digits, pressed)
		}
		if s := p.session.Stats(); s.Lost+s.Late+s.Bad != 0 || s.Received != received {
			rt.Fatalf("stats %+v, sent %d", s, received)
		}
	})
}

// strained returns audio for a source that differs from the audio of every other source.
func strained(packets, source int) []int16 {
	return speech((packets + 40*source) * 160)[40*source*160:]
}

// eventOf returns the payload of packet n of a key press, counted from 1. end is the end bit.
func eventOf(key, n int, end byte) []byte {
	return binary.BigEndian.AppendUint16([]byte{byte(key), end | 10}, uint16(n*160))
}
