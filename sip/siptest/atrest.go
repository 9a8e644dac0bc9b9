package siptest

import (
	"testing"

	"github.com/callwright/callwright/callwrighttest"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/header"
)

// secretTrunk returns a trunk with a secret in every field that stores encrypt.
func secretTrunk(*testing.T) sip.Trunk {
	tr := trunk(callwrighttest.VisibleID, "a", "+15550000001", sip.Outbound)
	tr.Options.Call.Password, tr.Options.Register.Password = "hunter2-call", "hunter2-reg-"
	tr.Headers = []header.Rule{{Custom: &header.Custom{Key: "X-Token", Value: "hunter2-head", Passthrough: true}}}
	tr.Alerts = &alert.Config{Enabled: true, Channels: alert.Channels{Webhook: "https://example.com/hunter2-hook"}}
	return tr
}
