package ladder_test

import (
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/sip/ladder"
)

func size(events []ladder.Event) int {
	n := 0
	for _, e := range events {
		n += e.Size()
	}
	return n
}

func texts(e ladder.Event) string {
	return strings.Join([]string{e.Method, e.Reason, e.Transport, e.Peer, e.Branch, e.Body, e.Note, e.Detail}, "\n")
}

func TestStepsStayInOrder(t *testing.T) {
	t.Parallel()
	var seen []string
	r := ladder.Recorder{Observe: func(e ladder.Event) { seen = append(seen, e.Note+e.Method) }}
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	r.Add(ladder.Event{At: at, Attempt: 1, Note: ladder.NoteResolved, Detail: "192.0.2.1:5061"})
	r.Add(ladder.Event{At: at, Attempt: 1, Sent: true, Method: "INVITE", CSeq: 1})
	got := r.Events()
	if len(got) != 2 || got[0].Detail != "192.0.2.1:5061" || got[1].Method != "INVITE" || !got[1].Sent || got[1].At != at {
		t.Errorf("%+v", got)
	}
	if strings.Join(seen, " ") != "resolved INVITE" {
		t.Errorf("observed: %v", seen)
	}
	got[0].Detail = "changed"
	if r.Events()[0].Detail == "changed" {
		t.Error("the ladder shares its memory")
	}
	if got := new(ladder.Recorder).Events(); len(got) != 0 {
		t.Errorf("an empty ladder: %+v", got)
	}
}

func TestWhatIsTooMuchIsCounted(t *testing.T) {
	t.Parallel()
	observed := 0
	r := ladder.Recorder{Observe: func(ladder.Event) { observed++ }}
	for i := range 1000 {
		r.Add(ladder.Event{Method: "INVITE", CSeq: uint32(i), Attempt: 2})
	}
	got := r.Events()
	last := got[len(got)-1]
	if len(got) != ladder.MaxEvents || last.Note != ladder.NoteOmitted || last.Detail != "745 more steps" || last.Attempt != 2 ||
		got[0].CSeq != 0 || observed != ladder.MaxEvents-1 {
		t.Errorf("%d events, %d observed, the last %+v", len(got), observed, last)
	}
}

// TestBoundsHold checks for random steps that a ladder does not exceed its limits, and that all its texts are printable.
func TestBoundsHold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var r ladder.Recorder
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 3000), func(b []byte) string { return string(b) }))
		one := rapid.Custom(func(t *rapid.T) ladder.Event {
			return ladder.Event{
				Method: text.Draw(t, "method"), Reason: text.Draw(t, "reason"), Peer: text.Draw(t, "peer"), Branch: text.Draw(t, "branch"),
				Body: text.Draw(t, "body"), Note: text.Draw(t, "note"), Detail: text.Draw(t, "detail"), Transport: text.Draw(t, "transport"),
			}
		})
		kinds := rapid.SliceOfN(one, 1, 3).Draw(t, "events")
		added := rapid.IntRange(0, 400).Draw(t, "count")
		for i := range added {
			r.Add(kinds[i%len(kinds)])
		}
		got := r.Events()
		if len(got) > ladder.MaxEvents || size(got) > ladder.MaxBytes {
			t.Fatalf("%d events, %d bytes", len(got), size(got))
		}
		if added > 0 && len(got) == 0 || len(got) < min(added, 20) {
			t.Fatalf("%d of %d steps are left", len(got), added)
		}
		for _, e := range got {
			if text := texts(e); !utf8.ValidString(text) || strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), func(c rune) bool { return !unicode.IsPrint(c) }) {
				t.Fatalf("not printable: %q", text)
			}
		}
	})
}

// TestSecretsAreCut checks that a key or a password that a peer quotes in any text is removed, in several spellings.
func TestSecretsAreCut(t *testing.T) {
	t.Parallel()
	words := []string{
		"inline:", "INLINE:", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:", "a=key-mgmt:mikey ", "a=ice-pwd:", "k=base64:",
		"Authorization: Digest username=\"u\", response=", "Proxy-Authorization: Basic ", "Digest username=\"", "Password=", "in\x00line:",
	}
	secret := rapid.StringMatching(`[A-Za-z0-9+/]{20,40}`)
	rapid.Check(t, func(t *rapid.T) {
		var r ladder.Recorder
		hidden := secret.Draw(t, "secret")
		bad := rapid.StringN(0, 40, -1).Draw(t, "before") + rapid.SampledFrom(words).Draw(t, "word") + hidden + rapid.String().Draw(t, "after")
		r.Add(ladder.Event{Reason: bad, Body: bad, Detail: bad, Branch: bad, Peer: bad, Method: bad, Transport: bad, Note: bad})
		body := "v=0\r\nm=audio 4000 RTP/SAVP 0\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:" + hidden + "\r\ns=" + bad
		for _, kind := range []string{"application/sdp", "text/plain", ""} {
			r.Add(ladder.Event{Body: ladder.Describe(kind, []byte(body))})
		}
		for _, e := range r.Events() {
			if strings.Contains(texts(e), hidden) {
				t.Fatalf("%q shows %q", texts(e), hidden)
			}
		}
	})
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	const head = "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\n"
	const key = "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj\r\n"
	for _, tt := range []struct{ kind, body, want string }{
		{"application/sdp", head + "m=audio 4000 RTP/SAVP 0 8 101\r\n" + key, "PCMU, PCMA; sendrecv; AES_CM_128_HMAC_SHA1_80"},
		{"Application/SDP;charset=utf-8", head + "m=audio 4000 RTP/SAVP 9\r\na=sendonly\r\n" + key, "G.722; sendonly; AES_CM_128_HMAC_SHA1_80"},
		{"application/sdp", head + "m=audio 4000 RTP/AVP 3\r\n", "no codec; sendrecv; no SRTP"},
		{"application/sdp", "hello", "not a session description"},
		{"message/sipfrag;version=2.0", "SIP/2.0 200 OK", "message/sipfrag"},
		{"application/sdp", "", ""},
	} {
		if got := ladder.Describe(tt.kind, []byte(tt.body)); got != tt.want {
			t.Errorf("%s %q: %q, not %q", tt.kind, tt.body, got, tt.want)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	var r ladder.Recorder
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				r.Add(ladder.Event{Method: "OPTIONS"})
				_ = r.Events()
			}
		})
	}
	wg.Wait()
	if got := r.Events(); len(got) != ladder.MaxEvents || got[len(got)-1].Detail != "545 more steps" {
		t.Errorf("%d events, the last %+v", len(got), got[len(got)-1])
	}
}
