package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
)

// trip is a function that implements http.RoundTripper without a network.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, body string, header http.Header) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	maps.Copy(h, header)
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1}
}

var errDial = &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}

// script is a server that answers with its steps in order, and then repeats the last step. It records the idempotency keys of the requests,
// and how long after the first request each request arrived.
type script struct {
	steps []step
	at    []time.Duration
	keys  map[string]bool
	begun time.Time
}

func (s *script) trip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	if s.keys[r.Header.Get("Idempotency-Key")] = true; len(s.at) == 0 {
		s.begun = time.Now()
	}
	s.at = append(s.at, time.Since(s.begun))
	next := s.steps[min(len(s.at), len(s.steps))-1]
	if next.err != nil {
		return nil, next.err
	}
	a := answer(next.status, `{"url":"http://x","sample_id":"s","voice":{}}`, next.header)
	if next.breaks {
		a.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"voice":`), broken{}))
	}
	return a, nil
}

// step is an answer, or an error instead of an answer.
type step struct {
	status int
	header http.Header
	breaks bool // the body fails in the middle
	err    error
}

func status(code int, header ...string) step {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return step{status: code, header: h}
}

var refused, noHost = step{err: errDial}, step{err: &net.DNSError{IsNotFound: true}}

func steps(s ...step) []step { return s }

func newScripted(t *testing.T, s *script, retry client.Retry) *client.Client {
	t.Helper()
	s.keys = map[string]bool{}
	c, err := client.New(client.Config{
		APIKey: key, HTTP: &http.Client{Transport: trip(s.trip)}, Retry: retry, Rand: rand.NewPCG(1, 1),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// getVoice and the functions after it are operations that the tests call.
func getVoice(ctx context.Context, c *client.Client) error {
	_, err := c.GetVoice(ctx, "Ines")
	return err
}

func speak(ctx context.Context, c *client.Client) error {
	_, err := c.Speak(ctx, client.SpeakRequest{Text: "Hi."})
	return err
}

func rename(ctx context.Context, c *client.Client) error {
	_, err := c.RenameVoice(ctx, "Ines", "Ina")
	return err
}

func remove(ctx context.Context, c *client.Client) error {
	_, err := c.DeleteVoice(ctx, "Ines")
	return err
}

func place(ctx context.Context, c *client.Client) error {
	_, err := c.Do(ctx, client.Request{Method: "POST", Path: "/v1/calls", Body: map[string]string{}})
	return err
}

func clone(ctx context.Context, c *client.Client) error {
	_, err := c.CloneVoice(ctx, client.CloneRequest{Name: "Ines", Files: []client.File{{Name: "a.wav", Content: strings.NewReader("x")}}})
	return err
}

func TestRetries(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		op    func(context.Context, *client.Client) error
		steps []step
		retry client.Retry
		tries int
		took  time.Duration // expected time of the last try; 0 means any time up to 30 s
		fails bool
	}{
		"at once":           {getVoice, steps(status(200)), client.Retry{}, 1, 0, false},
		"503, then good":    {getVoice, steps(status(503), status(200)), client.Retry{}, 2, 0, false},
		"502 and 429":       {getVoice, steps(status(502), status(429), status(200)), client.Retry{}, 3, 0, false},
		"no connection":     {getVoice, steps(refused, refused, status(200)), client.Retry{}, 3, 0, false},
		"speak":             {speak, steps(refused, status(503), status(200)), client.Retry{}, 3, 0, false},
		"for ever":          {getVoice, steps(status(503)), client.Retry{}, 4, 0, true},
		"never":             {getVoice, steps(status(503)), client.Retry{Tries: 1}, 1, 0, true},
		"500":               {getVoice, steps(status(500)), client.Retry{}, 1, 0, true},
		"404":               {getVoice, steps(status(404)), client.Retry{}, 1, 0, true},
		"no such host":      {getVoice, steps(noHost), client.Retry{}, 1, 0, true},
		"rename":            {rename, steps(status(503)), client.Retry{}, 1, 0, true},
		"delete":            {remove, steps(refused), client.Retry{}, 1, 0, true},
		"post":              {place, steps(status(503)), client.Retry{}, 1, 0, true},
		"clone":             {clone, steps(status(503)), client.Retry{}, 1, 0, true},
		"seconds":           {speak, steps(status(429, "Retry-After", "9"), status(200)), client.Retry{}, 2, 9 * time.Second, false},
		"date":              {speak, steps(status(429, "Retry-After", date.Add(5*time.Second).Format(http.TimeFormat), "Date", date.Format(http.TimeFormat)), status(200)), client.Retry{}, 2, 5 * time.Second, false},
		"too long":          {speak, steps(status(429, "Retry-After", "31"), status(200)), client.Retry{}, 1, 0, true},
		"too long together": {getVoice, steps(status(429, "Retry-After", "20")), client.Retry{}, 2, 20 * time.Second, true},
		"broken answer":     {getVoice, steps(step{status: 200, breaks: true}, status(200)), client.Retry{}, 2, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{steps: c.steps}
			err := c.op(t.Context(), newScripted(t, s, c.retry))
			if len(s.at) != c.tries || (err != nil) != c.fails {
				t.Fatalf("%s: %d tries, %v", name, len(s.at), err)
			}
			if took := s.at[len(s.at)-1]; c.took != 0 && took != c.took || took > 30*time.Second {
				t.Errorf("%s: took %s", name, took)
			}
			if c.tries > 1 && s.at[1] == 0 {
				t.Errorf("%s: tried again at once", name)
			}
			if len(s.keys) != 1 {
				t.Errorf("%s: idempotency keys %v", name, s.keys)
			}
		})
	}
}

// broken is the body of a connection that was interrupted.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestBackoffGrowsWithJitter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: steps(status(503))}
		if getVoice(t.Context(), newScripted(t, s, client.Retry{Tries: 6, First: time.Second, Longest: 3 * time.Second})) == nil {
			t.Fatal("no error")
		}
		for i, most := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 3 * time.Second, 3 * time.Second} {
			if wait := s.at[i+1] - s.at[i]; wait < most/2 || wait > most {
				t.Errorf("wait %d is %s", i, wait)
			}
		}
	})
}

func TestContextEndsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begun := time.Now()
		s := &script{steps: steps(status(429, "Retry-After", "20"))}
		err := speak(ctx, newScripted(t, s, client.Retry{}))
		if took := time.Since(begun); took != 3*time.Second || !errors.Is(err, context.DeadlineExceeded) || len(s.at) != 1 {
			t.Errorf("took %s and %d tries: %v", took, len(s.at), err)
		}
		if failed, ok := errors.AsType[*client.Error](err); !ok || failed.Status != 429 {
			t.Errorf("the error does not hold the answer: %v", err)
		}
	})
}

// silent is a body that returns its text, then a byte after each gap of 50 s, and then nothing until the request ends.
type silent struct {
	ctx  context.Context //nolint:containedctx // that of the request
	text io.Reader
	gaps int // number of gaps, each followed by a byte
}

func (b *silent) Read(p []byte) (int, error) {
	if n, _ := b.text.Read(p); n > 0 {
		return n, nil
	}
	if b.gaps--; b.gaps >= 0 {
		timer := time.NewTimer(50 * time.Second)
		defer timer.Stop()
		select {
		case <-timer.C:
			return copy(p, " "), nil
		case <-b.ctx.Done():
			return 0, b.ctx.Err()
		}
	}
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func (*silent) Close() error { return nil }

func TestSilence(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]trip{
		"no answer": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
		"no end": func(r *http.Request) (*http.Response, error) {
			a := answer(200, "", nil)
			a.Body = &silent{ctx: r.Context(), text: strings.NewReader(`{"voice":`)}
			return a, nil
		},
		"no end of an error": func(r *http.Request) (*http.Response, error) {
			a := answer(500, "", nil)
			a.Body = &silent{ctx: r.Context(), text: strings.NewReader(`{"message":`)}
			return a, nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			c, err := client.New(client.Config{APIKey: key, HTTP: &http.Client{Transport: handle}, Silence: time.Minute, Retry: client.Retry{Tries: 1}})
			if err != nil {
				t.Fatal(err)
			}
			if err = getVoice(t.Context(), c); err == nil || time.Since(begun) != time.Minute {
				t.Errorf("%s: %v after %s", name, err, time.Since(begun))
			}
			if failed, ok := errors.AsType[*client.Error](err); !ok && !strings.Contains(fmt.Sprint(err), "stayed silent for too long (1m0s)") || ok && failed.Status != 500 {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // a slow body does not count as silent
		c, err := client.New(client.Config{APIKey: key, Silence: time.Minute, HTTP: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
			a := answer(200, "", http.Header{"Content-Type": {"audio/wav"}})
			a.Body = &silent{ctx: r.Context(), text: strings.NewReader("OggSxxxxxxxxx"), gaps: 5}
			return a, nil
		})}})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		n, err := c.SampleAudio(t.Context(), io.Discard, "s1")
		if took := time.Since(begun); n != 13+5 || took != 310*time.Second || !errors.Is(err, callwright.ErrUnavailable) {
			t.Errorf("%d bytes after %s: %v", n, took, err)
		}
	})
}
