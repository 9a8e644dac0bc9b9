package portgateway

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// SimulatedConfig configures a Simulated. The zero value behaves as a carrier does: within an hour it processes an order, within a
// day it confirms the date, and it ports the numbers on the date that was asked for.
type SimulatedConfig struct {
	AcceptAfter  time.Duration // until the carrier processes an order, or answers a cancellation; 0: an hour
	ConfirmAfter time.Duration // from the signature until it confirms or rejects; 0: a day
	PortAfter    time.Duration // from the signature until it ports; 0: 16:00 UTC of the date asked for, at least two days after it confirms
	CutOff       time.Duration // before the confirmed date; negative: none; 0: 48 hours

	Secret callwright.Secret // signs events; empty: no event is taken

	callwright.Runtime
}

// SimulatedName is the name of the gateway.
const SimulatedName = "simulated"

// Simulated is a porting.Gateway and porting.EventReader whose carrier is a function of an order and the time. It stores nothing, so
// that orders survive the process and are the same on every node. Magic describes its treatment of each number.
type Simulated struct {
	cfg  SimulatedConfig
	poll time.Duration // see porting.Capabilities

	mu   sync.Mutex
	lost map[string]bool // keys of orders whose first answer was lost
}

var (
	_ porting.Gateway     = (*Simulated)(nil)
	_ porting.EventReader = (*Simulated)(nil)
)

// maxLost bounds the lost answers that are remembered.
const maxLost = 1000

// NewSimulated checks the configuration.
func NewSimulated(c SimulatedConfig) (*Simulated, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.AcceptAfter < 0 || c.ConfirmAfter < 0 || c.PortAfter < 0 {
		return nil, errors.New("portgateway: the times of a SimulatedConfig must not be negative")
	}
	poll := c.AcceptAfter // a carrier that is quicker than others is asked more often
	if c.AcceptAfter == 0 {
		c.AcceptAfter = time.Hour
	}
	if c.ConfirmAfter == 0 {
		c.ConfirmAfter = 24 * time.Hour
	}
	if c.CutOff == 0 {
		c.CutOff = 48 * time.Hour
	}
	if c.ConfirmAfter <= c.AcceptAfter || c.PortAfter != 0 && c.PortAfter <= c.ConfirmAfter {
		return nil, errors.New("portgateway: SimulatedConfig must accept before it confirms, and confirm before it ports")
	}
	return &Simulated{cfg: c, poll: poll, lost: map[string]bool{}}, nil
}

// Capabilities reports that any numbers can be ported.
func (s *Simulated) Capabilities() porting.Capabilities {
	return porting.Capabilities{Name: SimulatedName, MaxNumbers: 1000, CutOff: max(0, s.cfg.CutOff), PollEvery: s.poll}
}

// tollFree are the area codes for toll-free numbers in North America, without their first digit, 8.
var tollFree = []string{"00", "33", "44", "55", "66", "77", "88"}

// CheckNumbers returns the portability of the numbers according to Magic.
func (s *Simulated) CheckNumbers(ctx context.Context, numbers []callwright.PhoneNumber) ([]porting.Portability, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all := make([]porting.Portability, len(numbers))
	for i, number := range numbers {
		p := porting.Portability{Number: number, Portable: true, Type: porting.Landline}
		if national, american := strings.CutPrefix(string(number), "+18"); american && slices.Contains(tollFree, national[:min(2, len(national))]) {
			p.Type = porting.TollFree
		}
		if m := magicOf(number); m.does == rejects {
			p.PINRequired = m.code == porting.PINRequired || m.code == porting.PINInvalid
			if m.code.Remedy().Act == porting.ActNobody {
				p.Portable, p.Failure = false, m.code
			}
		}
		all[i] = p
	}
	return all, nil
}

// Submit derives the reference from the key.
func (s *Simulated) Submit(ctx context.Context, o porting.Submission) (porting.Receipt, error) {
	if err := silence(ctx, o.Order); err != nil {
		return porting.Receipt{}, err
	}
	for _, number := range o.Numbers {
		if m := magicOf(number); m.does == refuses {
			return porting.Receipt{}, &porting.Refusal{Failure: porting.Failure{Code: m.code, Raw: "refused at once"}}
		}
	}
	if has(o.Order, losesOrder) && s.loseOnce(o.Key) {
		return porting.Receipt{}, callwright.Errorf(callwright.CodeUnavailable, "the answer of the carrier was lost")
	}
	return porting.Receipt{Ref: ref(o.Key)}, nil
}

// loseOnce reports whether the answer is lost: the first one of each order in this process.
func (s *Simulated) loseOnce(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost[key] {
		return false
	}
	if len(s.lost) == maxLost {
		clear(s.lost)
	}
	s.lost[key] = true
	return true
}

// Cancel asks the carrier, which answers later.
func (s *Simulated) Cancel(ctx context.Context, o porting.Order) error {
	if err := silence(ctx, o); err != nil {
		return err
	}
	return known(o)
}

// Snapshot computes the present state of the order.
func (s *Simulated) Snapshot(ctx context.Context, o porting.Order) (porting.Snapshot, error) {
	if err := silence(ctx, o); err != nil {
		return porting.Snapshot{}, err
	}
	if err := known(o); err != nil {
		return porting.Snapshot{}, err
	}
	now := s.cfg.Clock.Now()
	shot := porting.Snapshot{Version: now.UnixMicro()}
	refusedAt := s.refusesCancelAt(o)
	shot.CancelRefused = !refusedAt.IsZero() && !refusedAt.After(now)
	for _, number := range o.Numbers {
		shot.Numbers = append(shot.Numbers, s.at(o, number, now))
	}
	return shot, nil
}

// known returns CodeNotFound for an order whose reference differs from the reference that Submit returns.
func known(o porting.Order) error {
	if o.Ref != ref(o.Key) {
		return callwright.NotFound("order")
	}
	return nil
}

// ref returns the reference of an order.
func ref(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "sim-" + hex.EncodeToString(sum[:12])
}

// silence waits for the end of the context if the carrier does not answer about an order.
func silence(ctx context.Context, o porting.Order) error {
	if has(o, silent) {
		<-ctx.Done()
	}
	return ctx.Err()
}

// signatureHeader holds the HMAC-SHA256 of an event in hexadecimal digits.
const signatureHeader = "X-Simulated-Signature"

// message is the body of an event.
type message struct {
	Event string `json:"event"`
	Order string `json:"order"`
}

// Event returns the header and the body of the message with which the carrier reports the step n, 0, 1, ..., of an order.
func (s *Simulated) Event(o porting.Order, n int) (header map[string][]string, body []byte) {
	body = fmt.Appendf(nil, `{"event":"%s-%d","order":"%s"}`, o.Ref, n, o.Ref)
	return map[string][]string{signatureHeader: {s.sign(body)}}, body
}

func (s *Simulated) sign(body []byte) string {
	mac := hmac.New(sha256.New, []byte(s.cfg.Secret.Reveal()))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// ReadEvents reads a message that Event has made.
func (s *Simulated) ReadEvents(header map[string][]string, body []byte) ([]porting.Hint, error) {
	given := header[signatureHeader]
	if s.cfg.Secret == "" || len(given) != 1 || !hmac.Equal([]byte(given[0]), []byte(s.sign(body))) {
		return nil, callwright.Errorf(callwright.CodeAuthFailure, "the message is not signed by the carrier")
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil || m.Event == "" || m.Order == "" {
		return nil, callwright.Invalid("", "must be an event of the simulated carrier")
	}
	return []porting.Hint{{Event: m.Event, Ref: m.Order}}, nil
}
