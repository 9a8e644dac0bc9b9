package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ogen-go/ogen/middleware"

	"github.com/callwright/callwright"
)

// answerLife is how long the first answer to a request with an Idempotency-Key is repeated.
const answerLife = 24 * time.Hour

// idempotencyKey is the header that contains the key. The generated code validates the key.
const idempotencyKey = "Idempotency-Key"

// answerOnce repeats the first answer to a request whose Idempotency-Key was used before. If there is no such answer, it runs the operation
// and stores the answer, all in one transaction. Of two concurrent requests, only one takes effect, and an operation that fails leaves
// neither a change nor an answer. The operations in Area.Detached are exceptions: see there. A request without a key is only passed on.
func (a *API) answerOnce(req middleware.Request, next middleware.Next, area *Area) (middleware.Response, error) {
	if req.Raw.Header.Get(idempotencyKey) == "" {
		return next(req)
	}
	claim := claim{
		org: Org(req.Context), key: req.OperationName + ":" + req.Raw.Header.Get(idempotencyKey),
		digest: digest(req.Raw.URL.Path, req.RawBody), empty: area.Repeatable[req.OperationName],
	}
	if area.Detached[req.OperationName] {
		return a.detached(req, next, claim)
	}
	answer, err := a.once(req, next, claim)
	if errors.Is(err, errClaimed) { // another request stored its answer meanwhile
		answer, err = a.once(req, next, claim)
	}
	return answer, err
}

// claim identifies a request with an Idempotency-Key. The function empty returns an empty answer, into which a stored answer is decoded.
type claim struct {
	org    callwright.OrgID
	key    string
	digest []byte
	empty  func() Answer
}

var errClaimed = errors.New("httpapi: another request with this key was first")

func (a *API) once(req middleware.Request, next middleware.Next, c claim) (answer middleware.Response, err error) {
	err = a.cfg.Atomic.Do(req.Context, func(ctx context.Context) error {
		now := a.cfg.Clock.Now()
		since := now.Add(-answerLife)
		kept, found, err := a.find(ctx, c, since)
		if found || err != nil {
			answer = middleware.Response{Type: kept}
			return err
		}
		within := req
		within.Context = ctx
		if answer, err = next(within); err != nil {
			return err
		}
		return a.store(ctx, c, answer, since, now)
	})
	return answer, err
}

// keepTime is the time limit for storing the answer of a detached operation. It also applies after the client has disconnected.
const keepTime = 10 * time.Second

// detached runs an operation outside of any transaction, and stores its answer in a separate transaction. If another request with the key
// has stored an answer first, detached returns that answer. The answer is stored even if the client has disconnected, so that a retry finds
// it.
func (a *API) detached(req middleware.Request, next middleware.Next, c claim) (middleware.Response, error) {
	kept, found, err := a.find(req.Context, c, a.cfg.Clock.Now().Add(-answerLife))
	if found || err != nil {
		return middleware.Response{Type: kept}, err
	}
	answer, err := next(req)
	if err != nil {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(req.Context), keepTime)
	defer cancel()
	now := a.cfg.Clock.Now()
	since := now.Add(-answerLife)
	err = a.cfg.Atomic.Do(ctx, func(ctx context.Context) error { return a.store(ctx, c, answer, since, now) })
	if !errors.Is(err, errClaimed) {
		return answer, err
	}
	if kept, found, err = a.find(ctx, c, since); found {
		return middleware.Response{Type: kept}, err
	}
	return answer, err
}

// find returns the answer that has been stored under the key since the given time, if there is one. It returns ErrIdempotencyConflict if
// the stored request differs from this one.
func (a *API) find(ctx context.Context, c claim, since time.Time) (answer Answer, found bool, err error) {
	digest, text, err := a.cfg.Idempotency.Find(ctx, c.org, c.key, since)
	switch {
	case errors.Is(err, callwright.ErrNotFound):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case !bytes.Equal(digest, c.digest):
		return nil, false, callwright.ErrIdempotencyConflict
	}
	answer = c.empty()
	return answer, true, answer.UnmarshalJSON(text)
}

func (a *API) store(ctx context.Context, c claim, answer middleware.Response, since, now time.Time) error {
	value, ok := answer.Type.(Answer)
	if !ok {
		return fmt.Errorf("httpapi: an answer of type %T cannot be stored: it must implement Answer", answer.Type)
	}
	text, err := value.MarshalJSON()
	if err != nil {
		return err
	}
	err = a.cfg.Idempotency.StoreAnswer(ctx, c.org, c.key, c.digest, text, since, now)
	if errors.Is(err, callwright.ErrConflict) {
		return errClaimed
	}
	return err
}

// digest returns a hash of a path and a body. Bodies whose JSON differs only in white space or the order of members have the same digest.
func digest(path string, body []byte) []byte {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber() // as float64, some different numbers would be equal
	if decoder.Decode(&value) == nil {
		if canonical, err := json.Marshal(value); err == nil {
			body = canonical
		}
	}
	sum := sha256.Sum256([]byte(path + "\x00" + string(body)))
	return sum[:]
}
