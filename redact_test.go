package callwright_test

import (
	"slices"
	"testing"

	"github.com/callwright/callwright"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Authorization: Bearer abcdefgh12345678":   "Authorization: [redacted] [redacted]",
		"use sk-abcdefghijklmnop please":           "use [redacted] please",
		`{"api_key": "12345"}`:                     `{"api_key": "[redacted]"}`,
		"https://ada:passphrase@example.com/a?b=c": "https://ada:[redacted]@example.com/a?b=c",
		"a bearer of good news, and a basic need":  "a bearer of good news, and a basic need",
		"my token is at home":                      "my token is at home",
	} {
		if got := callwright.Redact(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string][]string{
		"Authorization: Bearer abcdefgh12345678":  {"Bearer abcdefgh12345678", "Authorization: Bearer"},
		"password: hunter22, and token=hunter23!": {"password: hunter22", "token=hunter23!"},
		"password: [redacted]":                    nil,
		"my token is at home":                     nil,
	} {
		if got := callwright.Credentials(text); !slices.Equal(got, want) {
			t.Errorf("the credentials of %q are %q, want %q", text, got, want)
		}
	}
	for name, want := range map[string]bool{
		"X-Api-Key": true, "authorization": true, "shop_token": true, "Password": true, "X-Shop": false, "Content-Type": false,
	} {
		if got := callwright.NamesSecret(name); got != want {
			t.Errorf("%q names a secret: %v", name, got)
		}
	}
}
