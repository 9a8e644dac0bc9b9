package sip

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
)

// The bounds of thresholds: beyond them an alert would look at nothing, or at more than anybody meant.
const (
	maxUnreachable  = 7 * 24 * time.Hour
	maxRateWindow   = 24 * time.Hour
	maxResponseTime = 5 * time.Second // a probe that takes longer is a miss
)

// checkAlerts refuses alerts that could not be raised, or would reach nobody.
func (s *Service) checkAlerts(ctx context.Context, org callwright.OrgID, d Direction, c alert.Config) error {
	if err := checkThresholds(d, c.Thresholds); err != nil {
		return below("alert_config.thresholds", err)
	}
	t := c.Thresholds
	switch {
	case c.Enabled && t.Unreachable == 0 && t.FailureRate == 0 && t.ResponseTime == 0:
		return callwright.Invalid("alert_config.thresholds", "must have at least one threshold when alerts are enabled")
	case c.Enabled && c.Channels == (alert.Channels{}):
		return callwright.Invalid("alert_config.channels", "must have at least one channel when alerts are enabled")
	}
	return below("alert_config.channels", s.checkChannels(ctx, org, c.Channels))
}

func checkThresholds(d Direction, t alert.Thresholds) error {
	const outboundOnly = "belongs to the outbound direction: nobody probes an inbound trunk"
	switch {
	case t.Unreachable < 0 || t.Unreachable > maxUnreachable:
		return callwright.Invalid("unreachable_minutes", "must be from 0 to %d", maxUnreachable/time.Minute)
	case !(t.FailureRate >= 0 && t.FailureRate <= 100): // not NaN
		return callwright.Invalid("failure_rate_percent", "must be from 0 to 100")
	case t.FailureRateWindow < 0 || t.FailureRateWindow > maxRateWindow:
		return callwright.Invalid("failure_rate_window_minutes", "must be from 0 to %d", maxRateWindow/time.Minute)
	case t.ResponseTime < 0 || t.ResponseTime > maxResponseTime:
		return callwright.Invalid("response_time_ms", "must be from 0 to %d", maxResponseTime/time.Millisecond)
	case d == Inbound && t.Unreachable > 0:
		return callwright.Invalid("unreachable_minutes", outboundOnly)
	case d == Inbound && t.ResponseTime > 0:
		return callwright.Invalid("response_time_ms", outboundOnly)
	}
	return nil
}

func (s *Service) checkChannels(ctx context.Context, org callwright.OrgID, c alert.Channels) error {
	if c.Webhook != "" && s.Hooks == nil {
		return callwright.Invalid("webhook", "can't be used: this deployment posts nothing")
	}
	if c.Webhook != "" {
		if err := s.Hooks.CheckURL(c.Webhook); err != nil {
			return callwright.InField("webhook", err)
		}
	}
	if c.SMS && !s.SMS {
		return callwright.Invalid("sms", "can't be used: this deployment has no engine for SMS")
	}
	if !c.Email {
		return nil
	}
	if !s.Mail {
		return callwright.Invalid("email", "can't be used: this deployment sends no mail")
	}
	o, err := s.Organizations.Organization(ctx, org)
	if err == nil && o.ContactEmail == "" {
		return callwright.Invalid("email", "can't be used: the organization has no contact address")
	}
	return err
}
