package agentstest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
)

// farPhones implements FarLine with the Phones of a Line.
type farPhones struct {
	line    *agentstest.Line
	ringing atomic.Int32
}

func (f *farPhones) Behave(b agentstest.FarBehavior) {
	f.line.Script(func(ctx context.Context, d call.DialRequest, ring func()) (*agentstest.Phone, error) {
		switch b {
		case agentstest.FarIsBusy:
			return agentstest.Refuse(call.CauseBusy, 486)(ctx, d, ring)
		case agentstest.FarRings:
			f.ringing.Add(1)
			defer f.ringing.Add(-1)
			return agentstest.NoAnswer(ctx, d, ring)
		default:
			ring()
			return agentstest.NewPhone(agentstest.PhoneConfig{}), nil
		}
	})
}

func (f *farPhones) Answered(ctx context.Context) (agentstest.FarLeg, error) {
	return f.line.Answered(ctx)
}

func (f *farPhones) Ringing() int { return int(f.ringing.Load()) }

func (f *farPhones) Call(ctx context.Context, headers map[string]string) (agentstest.FarLeg, error) {
	in := f.line.Call(call.CallerInfo{
		From: "+15550100001", To: "+15550100002", Source: "127.0.0.1:5061", Headers: headers,
	}, agentstest.PhoneConfig{})
	phone, err := in.Phone(ctx)
	if ctx.Err() != nil {
		in.GiveUp()
		return nil, &call.HangupReason{Cause: call.CauseCancelled}
	}
	return phone, err
}

func TestLineConforms(t *testing.T) {
	t.Parallel()
	agentstest.RunLine(t, func(*testing.T) agentstest.LineHarness {
		line := agentstest.NewLine(agentstest.PhoneConfig{})
		return agentstest.LineHarness{
			Line: line, Far: &farPhones{line: line}, Dial: call.DialRequest{From: "+15550100002", To: "+15550100001"}, Close: line.Close,
		}
	})
}

func TestLegConforms(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{8000, 48000} {
		connect := func(c agentstest.PhoneConfig) (call.Leg, *agentstest.Phone) {
			c.Rate = rate
			phone := agentstest.NewPhone(c)
			return phone.Leg(), phone
		}
		agentstest.RunLeg(t, agentstest.LegHarness{
			Connect: func(*testing.T) (call.Leg, agentstest.FarLeg) { return connect(agentstest.PhoneConfig{}) },
			Hold: func(*testing.T) (call.Leg, func(bool)) {
				leg, phone := connect(agentstest.PhoneConfig{})
				return leg, phone.Hold
			},
			Refer: func(_ *testing.T, to callwright.PhoneNumber) (call.Leg, func(bool)) {
				leg, phone := connect(agentstest.PhoneConfig{})
				return leg, func(answers bool) {
					if answers {
						phone.Refer(to, nil)
					} else {
						phone.Refer(to, &call.HangupReason{Cause: call.CauseBusy})
					}
				}
			},
			Transfer: func(_ *testing.T, to string) call.Leg {
				leg, _ := connect(agentstest.PhoneConfig{Transfer: func(wanted string) error {
					if wanted != to {
						return errors.New("refused")
					}
					return nil
				}})
				return leg
			},
		})
	}
}
