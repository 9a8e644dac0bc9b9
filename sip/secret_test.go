package sip_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

// TestSecretsAreNotPrinted checks that no value reveals a secret when it is printed, logged or encoded.
func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	const given, call = "given-secret", "call-secret"
	h := open(t)
	in := registering("sip:x.example")
	in.CallUsername, in.CallPassword = new("u"), new(callwright.Secret(call))
	attachment := sip.Attachment{Numbers: []string{one}, Directions: []sip.DirectionInput{in}}
	done := h.attach("a", attachment.Numbers, in)
	updated, err := h.Update(t.Context(), "a", one, in)
	if err != nil {
		t.Fatal(err)
	}
	route, err := h.Inbound(t.Context(), one, sip.Peer{})
	if err == nil {
		t.Fatal("anybody may call")
	}
	record := h.get("a", one)
	secrets := []string{given, call, done.Password.Reveal(), configured(h.store).DerivationKey.Reveal()}

	if stored := record.Inbound.Options; stored.Call.Password.Reveal() != call || stored.Register.Password != done.Password || done.Password == given {
		t.Errorf("the store has %q and %q", stored.Call.Password.Reveal(), stored.Register.Password.Reveal())
	}
	for _, value := range []any{
		in, &in, attachment, done, &done, updated, route, record, *h.Service, *record.Inbound, record.Inbound, record.Inbound.Options,
	} {
		var logged bytes.Buffer
		slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "value", value)
		slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "value", value)
		encoded, err := json.Marshal(value)
		if err != nil {
			encoded = []byte(err.Error())
		}
		for form, text := range map[string]string{
			"%v": fmt.Sprintf("%v", value), "%+v": fmt.Sprintf("%+v", value), "%#v": fmt.Sprintf("%#v", value),
			"JSON": string(encoded), "slog": logged.String(),
		} {
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					t.Errorf("%T as %s shows a secret: %s", value, form, text)
				}
			}
		}
	}
}

// TestErrorsQuoteNoSecret checks that errors about invalid settings do not quote a secret of the same input.
func TestErrorsQuoteNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "s3cret!"
	h := open(t)
	h.attach("a", []string{one}, inbound(), outbound("sip:x.example"))
	long := strings.Repeat(secret, 100)
	for _, change := range []func(*sip.DirectionInput){
		func(d *sip.DirectionInput) { d.Register.Password = secret },
		func(d *sip.DirectionInput) { d.Register.Password = callwright.Secret(long) },
		func(d *sip.DirectionInput) {
			d.Register = &sip.Credentials{Password: callwright.Secret(secret + secret)}
		},
		func(d *sip.DirectionInput) { d.CallPassword = new(callwright.Secret(secret)) },
		func(d *sip.DirectionInput) { d.CallUsername, d.CallPassword = new("u"), new(callwright.Secret(long)) },
		func(d *sip.DirectionInput) { d.AuthMode = new(sip.AuthIP); d.Register.Password = secret + secret },
		func(d *sip.DirectionInput) { d.Endpoint = new("sip:alice:" + secret + "@") },
		func(d *sip.DirectionInput) { d.Endpoint = new("sip:alice:" + secret + "@10.0.0.1") },
		func(d *sip.DirectionInput) { d.Endpoint = new("sip:alice:" + secret + "@x.example;transport=udp") },
	} {
		d := registering("sip:x.example")
		change(&d)
		_, attachErr := h.Attach(t.Context(), "a", sip.Attachment{Numbers: []string{two}, Directions: []sip.DirectionInput{d}})
		_, updateErr := h.Update(t.Context(), "a", one, d)
		for _, err := range []error{attachErr, updateErr} {
			if text := fmt.Sprintf("%v %+v %#v", err, err, err); err == nil || strings.Contains(text, secret) {
				t.Errorf("the error is %s", text)
			}
		}
	}
}
