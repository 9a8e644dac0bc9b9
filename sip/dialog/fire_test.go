package dialog_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/sip/dialog"
)

// TestCSeqNeverGoesBack checks that CSeq numbers increase strictly, even if a refresh, a transfer and the end of a call overlap and each is
// challenged or retried.
func TestCSeqNeverGoesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := dialog.NewCall(dialog.Config{LocalTag: "ours", Session: time.Hour})
		highest, open := uint32(0), []dialog.Send{}
		apply := func(ev dialog.Event) {
			next, effects, err := c.Next(ev)
			if err != nil {
				return
			}
			c = next
			for _, s := range all[dialog.Send](effects) {
				if s.Method == dialog.ACK || s.Method == dialog.CANCEL || s.Stray {
					continue
				}
				if s.CSeq <= highest {
					t.Fatalf("%s has CSeq %d after %d", s.Method, s.CSeq, highest)
				}
				highest, open = s.CSeq, append(open, s)
			}
		}
		answer := response(200)
		answer.Session = dialog.Session{Expires: time.Hour, Refresher: dialog.UAC}
		apply(dialog.Dial{Target: peerURI})
		apply(answer)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				apply(dialog.Fired{Timer: dialog.TimerRefresh})
			case 1:
				apply(dialog.Fired{Timer: dialog.TimerGlare})
			case 2:
				apply(dialog.Transfer{To: "tel:+15550009", Wait: time.Minute})
			case 3:
				apply(dialog.Hangup{Cause: dialog.LocalHangup})
			default: // a response, possibly late, to any request that was sent
				s := rapid.SampledFrom(open).Draw(t, "request")
				status := rapid.SampledFrom([]int{200, 202, 401, 407, 422, 481, 491, 503}).Draw(t, "status")
				apply(dialog.Response{
					Method: s.Method, CSeq: s.CSeq, Status: status, RemoteTag: "theirs", Body: status == 200, Contact: contact,
					Challenge: status == 401 || status == 407, Session: dialog.Session{Expires: time.Hour, MinSE: 2 * time.Hour},
				})
			}
		}
	})
}

// TestDelayedOfferIsNotAnswered checks an INVITE without an offer. We answer this INVITE with our offer. If the peer's answer is missing,
// the call must end once, and every request of the peer except an ACK must be answered.
func TestDelayedOfferIsNotAnswered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := invite(7)
		in.Body = false
		c := dialog.NewCall(dialog.Config{LocalTag: "ours"})
		ended, established, byes := 0, 0, 0
		apply := func(ev dialog.Event) {
			next, effects, err := c.Next(ev)
			if err != nil {
				t.Fatalf("%#v: %v", ev, err)
			}
			c = next
			ended += len(all[dialog.Ended](effects))
			established += len(all[dialog.Established](effects))
			for _, s := range all[dialog.Send](effects) {
				if s.Method == dialog.BYE {
					byes++
				}
			}
			if r, ok := ev.(dialog.Request); ok && r.Method != dialog.ACK && len(all[dialog.Respond](effects)) == 0 {
				t.Fatalf("%s has no response", r.Method)
			}
		}
		apply(dialog.Incoming{Request: in})
		apply(dialog.Answer{})
		if rapid.Bool().Draw(t, "an ACK without a description") {
			apply(request(dialog.ACK, 7))
			if established != 0 || byes != 1 {
				t.Fatalf("established %d times, %d BYEs", established, byes)
			}
		}
		apply(request(dialog.BYE, 8))
		if c.Phase() != dialog.Over || ended != 1 {
			t.Fatalf("%s, ended %d times", c.Phase(), ended)
		}
	})
}

// TestUnsolicitedNotify checks that an unsolicited NOTIFY is refused with 481 and changes nothing.
func TestUnsolicitedNotify(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := dialog.NewCall(dialog.Config{LocalTag: "ours"})
		for _, ev := range []dialog.Event{dialog.Dial{Target: peerURI}, response(200)} {
			c, _, _ = c.Next(ev)
		}
		for cseq := range uint32(rapid.IntRange(1, 5).Draw(t, "count")) {
			n := request(dialog.NOTIFY, cseq+1)
			n.Progress, n.Final = rapid.SampledFrom([]int{0, 100, 200, 486}).Draw(t, "progress"), rapid.Bool().Draw(t, "final")
			next, effects, err := c.Next(n)
			if err != nil || next.Phase() != dialog.Active || len(effects) != 1 || effects[0].(dialog.Respond).Status != 481 {
				t.Fatalf("%v, %s, %+v", err, next.Phase(), effects)
			}
			c = next
		}
	})
}
