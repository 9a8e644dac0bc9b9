package httpapi_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/transport/httpapi"
)

const aCall = `{"phone_number":"` + theirNumber + `","task":"Talk."}`

func TestSameKeyAndBodyGetTheFirstAnswer(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	key := header{"Idempotency-Key", "k1"}
	first := h.want(200, "POST", "/v1/calls", aCall, key)
	again := h.want(200, "POST", "/v1/calls", `{ "task": "Talk.", "phone_number": "`+theirNumber+`" }`, key)
	if first["call_id"] != again["call_id"] || first["call_id"] == nil {
		t.Errorf("first %v, again %v", first, again)
	}
	if list := h.want(200, "GET", "/v1/calls", ""); list["total_count"] != 1.0 {
		t.Errorf("there are %v calls", list["total_count"])
	}
	other := h.want(409, "POST", "/v1/calls", strings.Replace(aCall, "Talk.", "Sing.", 1), key)
	if at(t, other, "errors", 0, "error") != "IDEMPOTENCY_CONFLICT" || other["status"] != "error" {
		t.Errorf("other body: %v", other)
	}
	if unlike := h.want(200, "POST", "/v1/calls", aCall, header{"Idempotency-Key", "k2"}); unlike["call_id"] == first["call_id"] {
		t.Error("another key got the same call")
	}
	_, stranger := h.tenant("other", "SIP")
	foreign := h.want(400, "POST", "/v1/calls", aCall, key, header{"Authorization", stranger})
	if at(t, foreign, "errors", 0, "error") != "BAD_REQUEST" { // the stranger has no number; the first answer would reveal the call's id
		t.Errorf("another organization: %v", foreign)
	}
}

func TestAttachTakesAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	key := header{"Idempotency-Key", "k1"}
	h.want(200, "POST", "/v1/calls", aCall, key)
	body := `{"phone_number":"+14155550155","service":"sip","directions":[{"type":"inbound"}]}`
	first := h.want(200, "POST", "/v1/sip/attach", body, key)
	again := h.want(200, "POST", "/v1/sip/attach", body, key)
	if at(t, first, "data", "configured", 0) != "+14155550155" || at(t, again, "data", "configured", 0) != "+14155550155" {
		t.Errorf("first %v, again %v", first, again)
	}
}

func TestWhatFailedIsTriedAgain(t *testing.T) {
	t.Parallel()
	h := open(t)
	key := header{"Idempotency-Key", "k1"}
	h.want(400, "POST", "/v1/calls", aCall, key) // fails, because no number is attached
	h.attach()
	if answer := h.want(200, "POST", "/v1/calls", aCall, key); answer["call_id"] == nil {
		t.Errorf("answer %v", answer)
	}
}

// movedClock is a clock that returns the time in its field, which a test sets.
type movedClock struct{ now time.Time }

func (c *movedClock) Now() time.Time { return c.now }

func TestAnswersAreForgottenAfterADay(t *testing.T) {
	t.Parallel()
	clock := &movedClock{time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	h := open(t, func(c *httpapi.Config) { c.Clock = clock })
	h.attach()
	key := header{"Idempotency-Key", "k1"}
	first := h.want(200, "POST", "/v1/calls", aCall, key)["call_id"]
	clock.now = clock.now.Add(24 * time.Hour)
	if again := h.want(200, "POST", "/v1/calls", aCall, key)["call_id"]; again != first {
		t.Error("the answer was forgotten within 24 hours")
	}
	clock.now = clock.now.Add(time.Second)
	if later := h.want(200, "POST", "/v1/calls", aCall, key)["call_id"]; later == first {
		t.Error("the answer is still given after 24 hours")
	}
}

func TestManyAtOnceMakeOneCall(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.attach()
	bodies := make([]string, 16)
	var all sync.WaitGroup
	for i := range bodies {
		all.Go(func() {
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/calls", strings.NewReader(aCall))
			r.Header.Set("Authorization", h.key)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Idempotency-Key", "k1")
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, r)
			bodies[i] = answer.Body.String()
		})
	}
	all.Wait()
	for _, body := range bodies {
		if body != bodies[0] || !strings.Contains(body, "call_id") {
			t.Errorf("answers differ: %s and %s", body, bodies[0])
		}
	}
	if list := h.want(200, "GET", "/v1/calls", ""); list["total_count"] != 1.0 {
		t.Errorf("there are %v calls", list["total_count"])
	}
}

// racing is a store of answers that loses the first race: instead of storing the first answer, it calls winner and returns ErrConflict.
type racing struct {
	callwright.IdempotencyStore
	once   sync.Once
	winner func()
}

func (r *racing) StoreAnswer(
	ctx context.Context, org callwright.OrgID, key string, digest, answer []byte, since, at time.Time,
) error {
	lost := false
	r.once.Do(func() { lost = true })
	if lost {
		r.winner()
		return callwright.ErrConflict
	}
	return r.IdempotencyStore.StoreAnswer(ctx, org, key, digest, answer, since, at)
}

// loose is an Atomic without isolation, like a database at READ COMMITTED.
type loose struct{ *memstore.Store }

func (loose) Do(ctx context.Context, fn func(context.Context) error) error { return fn(ctx) }

func TestTheLoserOfARaceGivesTheWinnersAnswer(t *testing.T) {
	t.Parallel()
	race := &racing{}
	h := open(t, func(c *httpapi.Config) {
		race.IdempotencyStore = c.Idempotency
		c.Idempotency, c.Atomic = race, loose{}
	})
	h.attach()
	var winner any
	key := header{"Idempotency-Key", "k1"}
	race.winner = func() { winner = h.want(200, "POST", "/v1/calls", aCall, key)["call_id"] }
	if got := h.want(200, "POST", "/v1/calls", aCall, key)["call_id"]; got != winner || winner == nil {
		t.Errorf("got %v, want the winner's %v", got, winner)
	}
}

// forgetful is a store of answers whose StoreAnswer fails.
type forgetful struct{ callwright.IdempotencyStore }

func (forgetful) StoreAnswer(context.Context, callwright.OrgID, string, []byte, []byte, time.Time, time.Time) error {
	return errors.New("the disk is full")
}

func TestWorkWhoseAnswerIsNotKeptIsUndone(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *httpapi.Config) { c.Idempotency = forgetful{c.Idempotency} })
	h.attach()
	h.want(500, "POST", "/v1/calls", aCall, header{"Idempotency-Key", "k1"})
	if list := h.want(200, "GET", "/v1/calls", ""); list["total_count"] != 0.0 {
		t.Errorf("there are %v calls", list["total_count"])
	}
}

func TestKeysAreTakenWhereTheContractSaysSo(t *testing.T) {
	t.Parallel()
	var takers []string
	every(func(_, _ string, op *v3.Operation) {
		for _, p := range op.Parameters {
			if p.Name == "Idempotency-Key" {
				takers = append(takers, op.OperationId)
			}
		}
	})
	want := "createCall attachSipNumbers initiatePort startTestRun startTestBatch createTestSet startTornado createSpeech"
	if got := strings.Join(takers, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	h := open(t)
	if long := h.want(400, "POST", "/v1/calls", aCall, header{"Idempotency-Key", strings.Repeat("k", 256)}); at(t, long, "errors", 0, "error") != "BAD_REQUEST" {
		t.Errorf("a long key: %v", long)
	}
}
