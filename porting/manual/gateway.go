package manual

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// Config configures a Gateway.
type Config struct {
	Store      Store         `required:"always"`
	CutOff     time.Duration // minimum time from a cancellation to the confirmed date; 0 means 48 hours, negative means none
	MaxNumbers int           // maximum per order; 0 means porting.MaxNumbers

	callwright.Runtime
}

// defaultCutOff is the default of Config.CutOff.
const defaultCutOff = 48 * time.Hour

// Gateway is a porting.Gateway whose orders wait in a Store until the operator enters their progress: see Move. Several processes may share
// a Store, for example a server and the operator's program.
type Gateway struct{ cfg Config }

var _ porting.Gateway = (*Gateway)(nil)

// New returns a gateway. It returns an error if the configuration is invalid.
func New(c Config) (*Gateway, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.MaxNumbers < 0 {
		return nil, errors.New("manual: Config.MaxNumbers must not be negative")
	}
	if c.CutOff == 0 {
		c.CutOff = defaultCutOff
	}
	if c.MaxNumbers == 0 {
		c.MaxNumbers = porting.MaxNumbers
	}
	return &Gateway{c}, nil
}

// Capabilities returns Name and the limits from the configuration.
func (g *Gateway) Capabilities() porting.Capabilities {
	return porting.Capabilities{Name: Name, MaxNumbers: g.cfg.MaxNumbers, CutOff: max(0, g.cfg.CutOff)}
}

// CheckNumbers returns CodeNotImplemented, because a person cannot answer immediately.
func (*Gateway) CheckNumbers(context.Context, []callwright.PhoneNumber) ([]porting.Portability, error) {
	return nil, callwright.ErrNotImplemented
}

// Submit stores an order for the operator, under a Ref derived from its key. It returns a *porting.Refusal if the order has more than
// Config.MaxNumbers numbers, which happens if the limit was reduced after the request was created.
func (g *Gateway) Submit(ctx context.Context, s porting.Submission) (porting.Receipt, error) {
	if len(s.Numbers) > g.cfg.MaxNumbers {
		said := fmt.Sprintf("the order has %d numbers, but the gateway accepts at most %d", len(s.Numbers), g.cfg.MaxNumbers)
		return porting.Receipt{}, &porting.Refusal{Failure: porting.Failure{Code: porting.GatewayError, Raw: said}}
	}
	now := g.cfg.Clock.Now()
	o := Order{Ref: refOf(s.Key), Key: s.Key, Submission: s, CreatedAt: now, UpdatedAt: now}
	o.Submission.Ref = o.Ref
	for _, number := range s.Numbers {
		o.Numbers = append(o.Numbers, porting.NumberSnapshot{Number: number, State: porting.NumberSubmitted})
	}
	switch err := g.cfg.Store.InsertOrder(ctx, o); {
	case errors.Is(err, callwright.ErrConflict): // an earlier or concurrent call has stored it
	case err != nil:
		return porting.Receipt{}, err
	default:
		g.cfg.Logger.InfoContext(ctx, "a port order waits for the operator", "ref", o.Ref, "numbers", len(o.Numbers))
	}
	return porting.Receipt{Ref: o.Ref}, nil
}

// refOf derives the Ref of an order from its key.
func refOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "man-" + hex.EncodeToString(sum[:10])
}

// Cancel records that the customer wants to cancel an order. If the operator has refused an earlier cancellation, a new one clears the
// refusal. Cancel does not change an order that has ended.
func (g *Gateway) Cancel(ctx context.Context, o porting.Order) error {
	wish := o.CancelAskedAt.UTC().Truncate(time.Microsecond)
	news := false
	_, err := g.change(ctx, o.Ref, func(stored *Order) error {
		if news = !stored.Ended() && !stored.CancelAskedAt.Equal(wish); !news {
			return errUnchanged
		}
		stored.CancelAskedAt, stored.CancelRefused = wish, false
		return nil
	})
	if err == nil && news {
		g.cfg.Logger.InfoContext(ctx, "the customer wants to cancel a port order", "ref", o.Ref)
	}
	return err
}

// Snapshot returns the progress of an order as the operator has entered it.
func (g *Gateway) Snapshot(ctx context.Context, o porting.Order) (porting.Snapshot, error) {
	stored, err := g.cfg.Store.Order(ctx, o.Ref)
	if err != nil {
		return porting.Snapshot{}, err
	}
	wish := o.CancelAskedAt.UTC().Truncate(time.Microsecond)
	shot := porting.Snapshot{
		Version: stored.Revision, Numbers: stored.Numbers,
		CancelRefused: stored.CancelRefused && !o.CancelAskedAt.IsZero() && stored.CancelAskedAt.Equal(wish),
	}
	for i, n := range shot.Numbers {
		if !slices.Contains(porting.NumberStates(), n.State) {
			shot.Numbers[i].State = "" // stored by a newer release of this program
		}
	}
	return shot, nil
}

var errUnchanged = errors.New("nothing changes")

// change reads an order, calls the given function, and stores the modified order. It retries after a conflict. If the function returns
// errUnchanged, change stores nothing and returns the order.
func (g *Gateway) change(ctx context.Context, ref string, change func(o *Order) error) (o Order, err error) {
	err = callwright.Retry(ctx, func(ctx context.Context) error {
		if o, err = g.cfg.Store.Order(ctx, ref); err != nil {
			return err
		}
		switch err := change(&o); {
		case errors.Is(err, errUnchanged):
			return nil
		case err != nil:
			return err
		}
		o.UpdatedAt = g.cfg.Clock.Now().UTC().Truncate(time.Microsecond)
		if err := g.cfg.Store.UpdateOrder(ctx, o); err != nil {
			return err
		}
		o.Revision++
		return nil
	})
	if err != nil {
		return Order{}, err
	}
	return o, nil
}
