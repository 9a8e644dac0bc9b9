package proof

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math/big"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// Trunks finds the trunks of numbers; sip.Service implements it.
type Trunks interface {
	// Number parses a number with the organization's default country. It returns CodeBadRequest with the field "phone_number" if the text
	// is invalid.
	Number(ctx context.Context, org callwright.OrgID, text string) (callwright.PhoneNumber, error)
	// NeedsProof reports whether an organization must prove a number before attaching it inbound. It returns CodeConflict if the number is
	// not available to the organization.
	NeedsProof(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (bool, error)
	// ProofCaller returns the number that an organization uses as the caller of another number. It returns CodeInvalidState if the
	// organization has none.
	ProofCaller(ctx context.Context, org callwright.OrgID, to callwright.PhoneNumber) (callwright.PhoneNumber, error)
	// Holder returns the organization that has attached a number, and its trunks, or CodeNotFound if none has.
	Holder(ctx context.Context, number callwright.PhoneNumber) (callwright.OrgID, sip.Record, error)
}

// Config configures a Service.
type Config struct {
	Store     Store             `required:"always"`
	Atomic    callwright.Atomic `required:"always"`
	Work      callwright.Work   `required:"always"`
	Trunks    Trunks            `required:"always"`
	Announcer Announcer         `required:"always"`
	Key       callwright.Secret `required:"always"` // key of the codes' HMAC; at least 32 bytes

	// From is the caller of all proofs, a number whose trunk the operator trusts. If it is empty, a number of the requesting organization
	// is the caller; but the server of an organization's own trunk can answer for any number.
	From  callwright.PhoneNumber
	Ready func() error // returns an error if no call can be made, for example without a speech engine; may be nil

	callwright.Runtime
}

// Service calls numbers to prove them, and verifies the codes.
type Service struct {
	cfg     Config           // without its Key
	mac     func() hash.Hash // keyed with Config.Key
	ending  context.Context  //nolint:containedctx // ends with Close, and the calls of this node with it
	end     context.CancelFunc
	mu      sync.Mutex
	closed  bool
	calling sync.WaitGroup
}

// Maximum numbers of proofs within an hour.
const (
	MaxOfNumber = 5  // for one number, counting all organizations
	MaxOfOrg    = 20 // for one organization
	window      = time.Hour
)

const (
	digits      = 6
	longest     = 90 * time.Second // maximum duration of a call, including ringing
	kept        = 2 * Validity     // age at which a proof is deleted
	taskDelete  = "sip.proof.forget"
	deleteEvery = time.Hour
	deleteBatch = 1000
	minKey      = 32
)

// order is the task that calls a number. Its argument is the id of the proof, and its key is the number.
const order = callwright.TaskKind[string]("sip.proof")

// New returns a service, and registers its durable work with c.Work. It returns an error if the configuration is invalid.
func New(c Config) (*Service, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if len(c.Key) < minKey {
		return nil, errors.New("proof: Config.Key must have at least 32 bytes")
	}
	key := []byte(c.Key.Reveal())
	c.Key = ""
	s := &Service{cfg: c, mac: func() hash.Hash { return hmac.New(sha256.New, key) }}
	s.ending, s.end = context.WithCancel(context.Background())
	order.Handle(c.Work, callwright.QueueCalls, c.Logger, s.step)
	c.Work.Every(callwright.QueueUpkeep, taskDelete, deleteEvery, s.deleteOld)
	return s, nil
}

// Request starts a proof of a number: it enqueues a call. The new proof replaces the organization's earlier proof of the number. Request
// returns CodeInvalidState if the number needs no proof or the organization has no number to call from, CodeConflict if the number is not
// available to the organization, CodeTooManyRequests beyond MaxOfNumber or MaxOfOrg proofs within an hour, and CodeUnavailable if this
// deployment cannot make the call.
func (s *Service) Request(ctx context.Context, org callwright.OrgID, number string) (Proof, error) {
	n, err := s.cfg.Trunks.Number(ctx, org, number)
	if err != nil {
		return Proof{}, err
	}
	needed, err := s.cfg.Trunks.NeedsProof(ctx, org, n)
	if err == nil && !needed {
		err = callwright.InField("phone_number", callwright.Errorf(callwright.CodeInvalidState, "needs no proof: it can be attached for inbound calls"))
	}
	if err == nil && s.cfg.Ready != nil {
		err = s.cfg.Ready()
	}
	if err == nil {
		_, _, err = s.caller(ctx, org, n)
	}
	if err != nil {
		return Proof{}, err
	}
	now := s.cfg.Clock.Now()
	p := Proof{
		ID: "np_" + strings.ReplaceAll(s.cfg.IDs.New(), "-", ""), Org: org, Number: n, State: StateWaiting,
		CreatedAt: now, ExpiresAt: now.Add(CodeLife), Version: 1,
	}
	return p, s.cfg.Atomic.Do(ctx, func(ctx context.Context) error {
		added, oldest, err := s.cfg.Store.Insert(ctx, p, Limits{Number: MaxOfNumber, Org: MaxOfOrg}, now.Add(-window))
		if err != nil {
			return err
		}
		if !added {
			return &callwright.Error{
				Code: callwright.CodeTooManyRequests, RetryAfter: max(time.Second, oldest.Add(window).Sub(now)),
				Message: fmt.Sprintf("a number can be called for its proof at most %d times an hour, and an organization can have at most %d such calls an hour: try again later", MaxOfNumber, MaxOfOrg),
			}
		}
		return order.Enqueue(ctx, s.cfg.Work, callwright.Task{Key: n.String(), Org: org}, p.ID)
	})
}

// caller returns the number that calls another number for its proof, and the organization that has attached the calling number. It returns
// CodeUnavailable if Config.From is set but not attached outbound.
func (s *Service) caller(ctx context.Context, org callwright.OrgID, to callwright.PhoneNumber) (callwright.OrgID, callwright.PhoneNumber, error) {
	if s.cfg.From == "" {
		from, err := s.cfg.Trunks.ProofCaller(ctx, org, to)
		return org, from, err
	}
	holder, r, err := s.cfg.Trunks.Holder(ctx, s.cfg.From)
	if callwright.CodeOf(err) == callwright.CodeNotFound || err == nil && r.Outbound == nil {
		s.cfg.Logger.ErrorContext(ctx, "numbers cannot be proven: the number that calls them is not attached outbound", "number", s.cfg.From)
		err = callwright.Errorf(callwright.CodeUnavailable, "this service cannot call numbers to prove them now: ask its operator")
	}
	return holder, s.cfg.From, err
}

// step handles the task order: it calls the number of a proof, at most once, because it stores the call before making it. If the
// organization has no number to call from, step marks the proof as failed. It does nothing if a later proof has replaced this one, or if
// the call was made or is too late.
func (s *Service) step(ctx context.Context, t callwright.Task, id string, _ int) error {
	p, err := s.cfg.Store.Latest(ctx, t.Org, callwright.PhoneNumber(t.Key))
	if callwright.CodeOf(err) == callwright.CodeNotFound || err == nil && p.ID != id {
		return nil
	}
	if err != nil {
		return err
	}
	code, err := newCode()
	if err != nil {
		return err
	}
	called, err := p.call(s.cfg.Clock.Now(), s.hash(p, code))
	if err != nil {
		return nil //nolint:nilerr // it was called, or is too late
	}
	org, from, err := s.caller(ctx, p.Org, p.Number)
	if err != nil && callwright.CodeOf(err) != callwright.CodeInternal && callwright.CodeOf(err) != callwright.CodeUnavailable {
		return lost(s.cfg.Store.Update(ctx, p.fail(callwright.MessageOf(err))))
	}
	if err != nil {
		return err
	}
	if !s.enter() {
		return callwright.Errorf(callwright.CodeUnavailable, "the server is stopping: another one makes the call")
	}
	if err := s.cfg.Store.Update(ctx, called); err != nil {
		s.calling.Done()
		return lost(err)
	}
	go func() {
		defer s.calling.Done()
		s.announce(called, Announcement{ID: p.ID, Org: org, From: from, To: p.Number, Parts: words(code)})
	}()
	return nil
}

// lost returns the error of a write, or nil for CodeConflict and CodeNotFound, which mean that another step has written first.
func lost(err error) error {
	if errors.Is(err, callwright.ErrConflict) || errors.Is(err, callwright.ErrNotFound) {
		return nil
	}
	return err
}

// enter registers a call, for which Close waits. It returns false if the service is closed.
func (s *Service) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.calling.Add(1)
	return true
}

// announce makes the call. If the call fails, announce marks the proof as failed.
func (s *Service) announce(p Proof, a Announcement) {
	ctx, cancel := context.WithTimeout(s.ending, longest)
	defer cancel()
	err := s.cfg.Announcer.Announce(ctx, a)
	if err == nil {
		return
	}
	s.cfg.Logger.InfoContext(ctx, "a number was not called for its proof", "call_id", p.ID, "org", p.Org, "error", err)
	reason := callwright.MessageOf(err)
	if ctx.Err() != nil {
		reason = "the call was cut"
	}
	writing, stop := context.WithTimeout(context.WithoutCancel(ctx), longest)
	defer stop()
	err = callwright.Retry(writing, func(ctx context.Context) error {
		latest, err := s.cfg.Store.Latest(ctx, p.Org, p.Number)
		if err != nil || latest.ID != p.ID || latest.State != StateCalled {
			return err
		}
		return s.cfg.Store.Update(ctx, latest.fail(reason))
	})
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "the end of a proof was not written", "call_id", p.ID, "error", err)
	}
}

// Get returns the newest proof of a number with its current state. It returns CodeNotFound if there is none.
func (s *Service) Get(ctx context.Context, org callwright.OrgID, number string) (Proof, error) {
	n, err := s.cfg.Trunks.Number(ctx, org, number)
	if err != nil {
		return Proof{}, err
	}
	p, err := s.cfg.Store.Latest(ctx, org, n)
	return p.At(s.cfg.Clock.Now()), err
}

// Verify checks a code against the newest proof of a number, and proves the number if the code is right. Repeating the right code changes
// nothing. Verify returns CodeBadRequest with the field "code" if the code is wrong; after MaxTries wrong codes the proof fails. It returns
// CodeInvalidState if no code is expected, and CodeNotFound if there is no proof.
func (s *Service) Verify(ctx context.Context, org callwright.OrgID, number, code string) (Proof, error) {
	code = strings.Join(strings.Fields(code), "")
	if len(code) != digits || strings.Trim(code, "0123456789") != "" {
		return Proof{}, callwright.Invalid("code", "must be the %d digits that were read out", digits)
	}
	n, err := s.cfg.Trunks.Number(ctx, org, number)
	if err != nil {
		return Proof{}, err
	}
	var answered Proof
	var refusal error // error for a wrong code, returned after the try is stored
	err = callwright.Retry(ctx, func(ctx context.Context) error {
		p, err := s.cfg.Store.Latest(ctx, org, n)
		if err != nil {
			return err
		}
		now, right := s.cfg.Clock.Now(), hmac.Equal([]byte(p.Hash), []byte(s.hash(p, code)))
		if answered, refusal = p, nil; right && p.At(now).State == StateProven {
			return nil
		}
		if answered, refusal = p.answer(now, right); errors.Is(refusal, callwright.ErrInvalidState) {
			return refusal
		}
		return s.cfg.Store.Update(ctx, answered)
	})
	if err == nil {
		err = refusal
	}
	return answered, err
}

// hash returns the HMAC of a code, which also covers the proof's organization, number and id.
func (s *Service) hash(p Proof, code string) string {
	mac := s.mac()
	for _, part := range []string{"number proof", string(p.Org), p.Number.String(), p.ID, code} {
		_, _ = fmt.Fprintf(mac, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// newCode returns a random code of 6 digits.
func newCode() (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%0*d", digits, n), nil
}

// words returns the parts of the announcement: the reason for the call, and the code twice, digit by digit.
func words(code string) []string {
	names := [...]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
	parts := []string{"Hello. Somebody wants to connect this telephone number to a voice agent. If it was not you, hang up now, and tell nobody the code. The code is"}
	for range 2 {
		for _, digit := range code {
			parts = append(parts, names[digit-'0'])
		}
		parts = append(parts, "Again, the code is")
	}
	parts[len(parts)-1] = "Goodbye."
	return parts
}

// deleteOld is periodic work. It deletes the proofs that are older than kept.
func (s *Service) deleteOld(ctx context.Context, _ callwright.Task, _ int) error {
	for {
		n, err := s.cfg.Store.DeleteOld(ctx, s.cfg.Clock.Now().Add(-kept), deleteBatch)
		if err != nil || n < deleteBatch {
			return err
		}
	}
}

// Close aborts the calls of this node, and waits until they have ended or ctx ends. Afterwards no call is made.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	done := make(chan struct{})
	go func() { defer close(done); s.calling.Wait() }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
