package alert

import (
	"time"

	"github.com/callwright/callwright"
)

// Limits of the thresholds.
const (
	MaxUnreachable  = 7 * 24 * time.Hour
	MaxRateWindow   = 24 * time.Hour
	MaxResponseTime = 5 * time.Second // a slower probe counts as unanswered
)

// Check returns CodeBadRequest with the field of an invalid setting. probed reports whether the trunk's servers are probed; if not, only
// the threshold of the failure rate may be set. Check does not know which channels the deployment offers.
func (c Config) Check(probed bool) error {
	t := c.Thresholds
	if err := t.check(probed); err != nil {
		err.Field = "thresholds." + err.Field
		return err
	}
	switch {
	case c.Enabled && t.Unreachable == 0 && t.FailureRate == 0 && t.ResponseTime == 0:
		return callwright.Invalid("thresholds", "must have at least one threshold when alerts are enabled")
	case c.Enabled && c.Channels == (Channels{}):
		return callwright.Invalid("channels", "must have at least one channel when alerts are enabled")
	}
	return nil
}

func (t Thresholds) check(probed bool) *callwright.Error {
	const outboundOnly = "must not be set for the inbound direction, whose servers are not probed"
	switch {
	case t.Unreachable < 0 || t.Unreachable > MaxUnreachable:
		return callwright.Invalid("unreachable_minutes", "must be from 0 to %d", MaxUnreachable/time.Minute)
	case !(t.FailureRate >= 0 && t.FailureRate <= 100): // negated, so that NaN is refused
		return callwright.Invalid("failure_rate_percent", "must be from 0 to 100")
	case t.FailureRateWindow < 0 || t.FailureRateWindow > MaxRateWindow:
		return callwright.Invalid("failure_rate_window_minutes", "must be from 0 to %d", MaxRateWindow/time.Minute)
	case t.ResponseTime < 0 || t.ResponseTime > MaxResponseTime:
		return callwright.Invalid("response_time_ms", "must be from 0 to %d", MaxResponseTime/time.Millisecond)
	case !probed && t.Unreachable > 0:
		return callwright.Invalid("unreachable_minutes", outboundOnly)
	case !probed && t.ResponseTime > 0:
		return callwright.Invalid("response_time_ms", outboundOnly)
	}
	return nil
}
