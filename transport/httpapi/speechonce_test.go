package httpapi_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/speech/tts"
	"github.com/callwright/callwright/transport/httpapi"
)

const aText = `{"text":"Good morning."}`

func TestSpeechIsRepeatedByItsKey(t *testing.T) {
	t.Parallel()
	h := open(t)
	key := header{"Idempotency-Key", "k1"}
	first := h.do("POST", "/v1/speak", aText, key)
	again := h.do("POST", "/v1/speak", `{ "text": "Good morning." }`, key)
	if first.Code != 200 || first.Body.String() != again.Body.String() || first.Header().Get("X-Sample-Id") != again.Header().Get("X-Sample-Id") {
		t.Errorf("first %d %v %s, again %v %s", first.Code, first.Header(), first.Body, again.Header(), again.Body)
	}
	other := h.want(409, "POST", "/v1/speak", `{"text":"Good evening."}`, key)
	if at(t, other, "errors", 0, "error") != "IDEMPOTENCY_CONFLICT" {
		t.Errorf("other body: %v", other)
	}
	if list := h.want(200, "GET", "/v1/speak/samples", ""); list["total"] != 1.0 || len(h.engine.Requests()) != 1 {
		t.Errorf("there are %v samples of %d sentences", list["total"], len(h.engine.Requests()))
	}
}

// TestSpeechThatFailedIsSpokenByItsKey checks that an idempotency key can be used again, even for another body, after its request has
// failed.
func TestSpeechThatFailedIsSpokenByItsKey(t *testing.T) {
	t.Parallel()
	h := open(t)
	key := header{"Idempotency-Key", "k1"}
	h.want(400, "POST", "/v1/speak", `{"text":"Good morning.","voice":"nobody"}`, key)
	h.spoken(aText, key)
}

// TestAudioIgnoresKeys checks that an answer with audio is not stored under its idempotency key, and that a request for audio does not
// receive the JSON answer that is stored under its key.
func TestAudioIgnoresKeys(t *testing.T) {
	t.Parallel()
	h := open(t)
	key, audio := header{"Idempotency-Key", "k1"}, header{"Accept", "audio/wav"}
	heard := h.do("POST", "/v1/speak", aText, key, audio)
	kept, _ := h.spoken(aText, key)
	other := h.do("POST", "/v1/speak", `{"text":"Good evening."}`, key, audio)
	again, _ := h.spoken(aText, key)
	if !strings.HasPrefix(heard.Body.String(), "RIFF") || !strings.HasPrefix(other.Body.String(), "RIFF") || kept != again ||
		heard.Header().Get("X-Sample-Id") == kept {
		t.Errorf("heard %v, other %v, kept %s, again %s", heard.Header(), other.Header(), kept, again)
	}
}

// TestSpeechHoldsNoTransaction checks that the store can be written while the text of a request with an idempotency key is being
// synthesized.
func TestSpeechHoldsNoTransaction(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.engine.OnRequest = func(tts.Request) error {
		callwrighttest.Soon(t, "writing while a text is synthesized", func() {
			_ = h.store.Do(context.Background(), func(context.Context) error { return nil })
		})
		return nil
	}
	h.spoken(aText, header{"Idempotency-Key", "k1"})
}

func TestTwoTextsAtOnceGetOneAnswer(t *testing.T) {
	t.Parallel()
	h := open(t)
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		h.engine.Gate = gate
		bodies := make([]string, 3)
		for i := range bodies {
			text := aText
			if i == 2 {
				text = `{"text":"Good evening."}`
			}
			go func() {
				r := httptest.NewRequestWithContext(context.Background(), "POST", "/v1/speak", strings.NewReader(text))
				r.Header.Set("Authorization", h.key)
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Idempotency-Key", "k1")
				answer := httptest.NewRecorder()
				h.ServeHTTP(answer, r)
				bodies[i] = answer.Body.String()
			}()
			synctest.Wait()
			if i == 1 { // two requests with the same text are running
				close(gate)
			}
		}
		synctest.Wait()
		if bodies[0] != bodies[1] || !strings.Contains(bodies[0], "sample_id") || !strings.Contains(bodies[2], "IDEMPOTENCY_CONFLICT") {
			t.Errorf("the answers are %s", strings.Join(bodies, "\n"))
		}
	})
}

// TestTheLoserOfARaceToSpeakGivesTheWinnersAnswer checks that a request returns the answer of another request that has meanwhile used the
// same idempotency key.
func TestTheLoserOfARaceToSpeakGivesTheWinnersAnswer(t *testing.T) {
	t.Parallel()
	race := &racing{}
	h := open(t, func(c *httpapi.Config) {
		race.IdempotencyStore = c.Idempotency
		c.Idempotency, c.Atomic = race, loose{}
	})
	key, winner := header{"Idempotency-Key", "k1"}, ""
	race.winner = func() { winner, _ = h.spoken(aText, key) }
	if got, _ := h.spoken(aText, key); got != winner || winner == "" {
		t.Errorf("got %s, want the winner's %s", got, winner)
	}
}

// TestAnswerIsKeptForClientsThatHaveGone checks that the answer is stored even if the client disconnects after the synthesis.
func TestAnswerIsKeptForClientsThatHaveGone(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	h := open(t, func(c *httpapi.Config) { c.Idempotency = leaving{c.Idempotency, leave} })
	r := httptest.NewRequestWithContext(ctx, "POST", "/v1/speak", strings.NewReader(aText))
	r.Header.Set("Authorization", h.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", "k1")
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	if again, _ := h.spoken(aText, header{"Idempotency-Key", "k1"}); !strings.Contains(answer.Body.String(), again) {
		t.Errorf("got %s, and again %s", answer.Body, again)
	}
}

// leaving is a store of answers that disconnects the client just before it stores an answer.
type leaving struct {
	callwright.IdempotencyStore
	leave func()
}

func (l leaving) StoreAnswer(ctx context.Context, org callwright.OrgID, key string, digest, answer []byte, since, at time.Time) error {
	l.leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.IdempotencyStore.StoreAnswer(ctx, org, key, digest, answer, since, at)
}
