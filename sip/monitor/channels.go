package monitor

import (
	"context"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip/alert"
)

// CheckChannels returns CodeBadRequest for a channel over which an organization cannot be alerted. It implements sip.Monitor.
func (s *Service) CheckChannels(ctx context.Context, org callwright.OrgID, c alert.Channels) error {
	if c.Webhook != "" && s.cfg.Hooks == nil {
		return callwright.Invalid("webhook", "must be empty: this deployment sends no webhooks")
	}
	if c.Webhook != "" {
		if err := s.cfg.Hooks.CheckURL(c.Webhook); err != nil {
			return callwright.InField("webhook", err)
		}
	}
	if c.SMS && s.cfg.Texter == nil {
		return callwright.Invalid("sms", "must be false: this deployment sends no SMS")
	}
	if !c.Email {
		return nil
	}
	if s.cfg.Mailer == nil {
		return callwright.Invalid("email", "must be false: this deployment sends no mail")
	}
	o, err := s.cfg.Organizations.Organization(ctx, org)
	if err == nil && o.ContactEmail == "" {
		return callwright.Invalid("email", "must be false until the operator of this service has set a contact address of the organization")
	}
	return err
}
