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

// SimulatedConfig configures a Simulated. The zero value imitates a real carrier: it processes an order after an hour, confirms the date
// after a day, and ports the numbers on the requested date.
type SimulatedConfig struct {
	AcceptAfter  time.Duration // until the carrier processes an order or answers a cancellation; 0 means an hour
	ConfirmAfter time.Duration // from the signature to the confirmation or rejection; 0 means a day
	PortAfter    time.Duration // from signature to port; 0 means 16:00 UTC of the target date, at least 48 hours after the confirmation
	CutOff       time.Duration // minimum time between a cancellation and the confirmed date; 0 means 48 hours, negative means none

	Secret callwright.Secret // signs events; if empty, every event is rejected

	callwright.Runtime
}

// SimulatedName is the gateway name that Simulated reports in its Capabilities.
const SimulatedName = "simulated"

// Simulated implements porting.Gateway and porting.EventReader. It computes the state of an order from the order and the time, and stores
// no orders. Orders therefore survive a restart and are the same on every node. Magic describes how it treats each number.
type Simulated struct {
	cfg  SimulatedConfig
	poll time.Duration // see porting.Capabilities.PollEvery

	mu   sync.Mutex
	lost map[string]bool // keys of orders whose first answer was lost in this process
}

var (
	_ porting.Gateway     = (*Simulated)(nil)
	_ porting.EventReader = (*Simulated)(nil)
)

// maxLost is the maximum size of Simulated.lost, which is cleared when it is full.
const maxLost = 1000

// NewSimulated returns a simulated carrier. It returns an error if AcceptAfter, ConfirmAfter or PortAfter is negative, or if the carrier
// would not accept, confirm and port in this order.
func NewSimulated(c SimulatedConfig) (*Simulated, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.AcceptAfter < 0 || c.ConfirmAfter < 0 || c.PortAfter < 0 {
		return nil, errors.New("portgateway: SimulatedConfig.AcceptAfter, ConfirmAfter and PortAfter must not be negative")
	}
	poll := c.AcceptAfter // poll a faster carrier more often
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
		return nil, fmt.Errorf("portgateway: SimulatedConfig.AcceptAfter (%s) must be less than ConfirmAfter (%s), and ConfirmAfter less than PortAfter (%s) unless PortAfter is 0",
			c.AcceptAfter, c.ConfirmAfter, c.PortAfter)
	}
	return &Simulated{cfg: c, poll: poll, lost: map[string]bool{}}, nil
}

// Capabilities returns SimulatedName, a limit of 1000 numbers per order, and the configured cut-off and poll interval.
func (s *Simulated) Capabilities() porting.Capabilities {
	return porting.Capabilities{Name: SimulatedName, MaxNumbers: 1000, CutOff: max(0, s.cfg.CutOff), PollEvery: s.poll}
}

// tollFree lists the area codes of toll-free numbers in North America, without their first digit, 8.
var tollFree = []string{"00", "33", "44", "55", "66", "77", "88"}

// CheckNumbers returns the portability of the numbers according to Magic. It returns an error only if ctx has ended.
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

// Submit returns a receipt whose reference is derived from the order's key, so that a repeated call returns the same one. Magic numbers may
// make it fail.
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

// loseOnce reports whether the answer to an order is lost: it returns true for the first call with the order's key in this process. After
// maxLost orders, it returns true for known keys again.
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

// Cancel accepts a request to cancel an order, which the carrier answers after AcceptAfter. It returns CodeNotFound if the reference does
// not belong to the order.
func (s *Simulated) Cancel(ctx context.Context, o porting.Order) error {
	if err := silence(ctx, o); err != nil {
		return err
	}
	return known(o)
}

// Snapshot computes the current state of the order. It returns CodeNotFound if the reference does not belong to the order.
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

// ref returns the reference of the order with the given key.
func ref(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "sim-" + hex.EncodeToString(sum[:12])
}

// silence blocks until ctx ends if a number of the order has the treatment silent. It returns the error of ctx.
func silence(ctx context.Context, o porting.Order) error {
	if has(o, silent) {
		<-ctx.Done()
	}
	return ctx.Err()
}

// signatureHeader is the HTTP header that contains the HMAC-SHA256 of an event's body in hexadecimal digits.
const signatureHeader = "X-Simulated-Signature"

// message is the JSON body of an event.
type message struct {
	Event string `json:"event"`
	Order string `json:"order"`
}

// Event returns the header and the body of the n-th event that the carrier sends for an order, counted from 0.
func (s *Simulated) Event(o porting.Order, n int) (header map[string][]string, body []byte) {
	body = fmt.Appendf(nil, `{"event":"%s-%d","order":"%s"}`, o.Ref, n, o.Ref)
	return map[string][]string{signatureHeader: {s.sign(body)}}, body
}

func (s *Simulated) sign(body []byte) string {
	mac := hmac.New(sha256.New, []byte(s.cfg.Secret.Reveal()))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// ReadEvents parses an event that Event has created. It returns CodeAuthFailure if the signature is wrong or the Secret is empty, and
// CodeBadRequest if the body is not such an event.
func (s *Simulated) ReadEvents(header map[string][]string, body []byte) ([]porting.Hint, error) {
	given := header[signatureHeader]
	if s.cfg.Secret == "" || len(given) != 1 || !hmac.Equal([]byte(given[0]), []byte(s.sign(body))) {
		return nil, callwright.Errorf(callwright.CodeAuthFailure, "the header %s must contain one signature of the body, made with the carrier's secret", signatureHeader)
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil || m.Event == "" || m.Order == "" {
		return nil, callwright.Invalid("", "must be a JSON object with the non-empty strings event and order")
	}
	return []porting.Hint{{Event: m.Event, Ref: m.Order}}, nil
}
