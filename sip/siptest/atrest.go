package siptest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/header"
)

// encryptsTrunk stores a trunk with a secret in everything that stores encrypt, and looks for them in what is at rest.
func encryptsTrunk(t *testing.T, s sip.Store, atRest func(t *testing.T, s sip.Store) []byte) {
	if atRest == nil {
		return // the store keeps nothing beyond the process
	}
	const visible = "visible-id"
	tr := trunk(visible, "a", "+15550000001", sip.Outbound)
	tr.Options.Call.Password, tr.Options.Register.Password = "hunter2-call", "hunter2-reg-"
	tr.Headers = []header.Rule{{Custom: &header.Custom{Key: "X-Token", Value: "hunter2-head", Passthrough: true}}}
	tr.Alerts = &alert.Config{Enabled: true, Channels: alert.Channels{Webhook: "https://example.com/hunter2-hook"}}
	insert(t, s, tr)
	if err := s.Update(t.Context(), tr); err != nil {
		t.Fatal(err)
	}
	raw := atRest(t, s)
	if !bytes.Contains(raw, []byte(visible)) {
		t.Fatalf("what is at rest, %d bytes, has nothing of what was stored", len(raw))
	}
	for _, secret := range []string{"hunter2-call", "hunter2-reg-", "hunter2-head", "hunter2-hook"} {
		for form, text := range map[string]string{
			"plain text": secret, "hexadecimal": hex.EncodeToString([]byte(secret)), "base64": base64.RawStdEncoding.EncodeToString([]byte(secret)),
		} {
			if bytes.Contains(raw, []byte(text)) {
				t.Errorf("%q is at rest in %s", secret, form)
			}
		}
	}
}
