package siptest

import (
	"testing"

	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/header"
)

// encryptsTrunk stores a trunk with a secret in each encrypted field, and looks for the secrets in the data at rest.
func encryptsTrunk(t *testing.T, s sip.Store, atRest callwrighttest.AtRest[sip.Store]) {
	tr := trunk(callwrighttest.VisibleID, "a", "+15550000001", sip.Outbound)
	tr.Options.Call.Password, tr.Options.Register.Password = "hunter2-call", "hunter2-reg-"
	tr.Headers = []header.Rule{{Custom: &header.Custom{Key: "X-Token", Value: "hunter2-head", Passthrough: true}}}
	tr.Alerts = &alert.Config{Enabled: true, Channels: alert.Channels{Webhook: "https://example.com/hunter2-hook"}}
	atRest.Check(t, s, func() error {
		if err := s.Insert(t.Context(), tr); err != nil {
			return err
		}
		tr.Version = 1
		return s.Update(t.Context(), tr)
	}, "hunter2-call", "hunter2-reg-", "hunter2-head", "hunter2-hook")
}
