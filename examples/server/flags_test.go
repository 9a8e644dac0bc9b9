package main

import (
	"strings"
	"testing"
)

// TestRefusals checks the errors for invalid settings. Each must name the setting and help to correct it, for example with the valid values
// or the name of a similar setting.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		env  string
		want []string
	}{
		{env: "CALLWRIGHT_DRAIN_TIMEOUT=30", want: []string{"CALLWRIGHT_DRAIN_TIMEOUT", `"30"`, "must be a duration such as 30s"}},
		{env: "CALLWRIGHT_DRAIN_TIMEOUT=", want: []string{"CALLWRIGHT_DRAIN_TIMEOUT", `""`, "must be a duration such as 30s"}},
		{env: "CALLWRIGHT_CALL_LOG_DAYS=ninety", want: []string{"CALLWRIGHT_CALL_LOG_DAYS", "must be a whole number"}},
		{env: "CALLWRIGHT_HTTP_CONNECTIONS=1.5", want: []string{"CALLWRIGHT_HTTP_CONNECTIONS", "must be a whole number"}},
		{env: "CALLWRIGHT_FAILED_CALL_ISSUES=maybe", want: []string{"CALLWRIGHT_FAILED_CALL_ISSUES", "must be true or false"}},
		{env: "CALLWRIGHT_FAILED_CALL_ISSUES=", want: []string{"CALLWRIGHT_FAILED_CALL_ISSUES", "must be true or false"}},
		{env: "CALLWRIGHT_LOG_LEVEL=loud", want: []string{"CALLWRIGHT_LOG_LEVEL", "must be debug, info, warn or error"}},
		{args: []string{"--drain-timeout", "30"}, want: []string{"-drain-timeout", `"30"`, "must be a duration such as 30s"}},
		{args: []string{"--failed-call-issues=maybe"}, want: []string{"-failed-call-issues", "must be true or false"}},

		{env: "CALLWRIGHT_SIPADDR=127.0.0.1:5061", want: []string{"did you mean CALLWRIGHT_SIP_ADDR?"}},
		{env: "CALLWRIGHT_SECRET_KEYS=x", want: []string{"did you mean CALLWRIGHT_SECRET_KEY?"}},
		{env: "CALLWRIGHT_database_url=sqlite:x", want: []string{"did you mean CALLWRIGHT_DATABASE_URL?"}},
		{env: "CALLWRIGHT_LLM_KEY=x", want: []string{"did you mean CALLWRIGHT_LLM_API_KEY?"}},
		{env: "CALLWRIGHT_WHATEVER_THIS_IS=x", want: []string{"-help lists the flags"}},
		{args: []string{"--sipaddr", "x"}, want: []string{"-sipaddr", "did you mean --sip-addr?"}},

		{args: []string{"--addr", "localhost"}, want: []string{"--addr", "127.0.0.1:8080", `"localhost"`}},
		{args: []string{"--addr", ""}, want: []string{"--addr", "127.0.0.1:8080"}},
		{args: []string{"--addr", "127.0.0.1:80800"}, want: []string{"--addr", "127.0.0.1:8080"}},
		{args: []string{"--sip-addr", "sip.example:5061"}, want: []string{"--sip-addr must be an IP address and a port", "--public-host"}},
		{args: []string{"--sip-addr", "127.0.0.1"}, want: []string{"--sip-addr must be an IP address and a port"}},
		{args: []string{"--media-ip", "here"}, want: []string{`--media-ip must be an IP address such as 192.0.2.1, not "here"`}},
		{args: []string{"--media-ip", "::1"}, want: []string{"--media-ip ::1", "--public-ip 127.0.0.1", "both"}},
		{args: []string{"--firewall-ips", "300.1.1.1"}, want: []string{`--firewall-ips must be IP addresses`, `"300.1.1.1"`}},
		{args: []string{"--sip-trusted", "192.0.2.0/24,carrier.example"}, want: []string{`--sip-trusted must be IP addresses`, `"carrier.example"`}},
		{env: "CALLWRIGHT_SIP_TRUSTED=300.1.1.1", want: []string{`--sip-trusted must be`, `"300.1.1.1"`}},
		{args: []string{"--dns-server", "192.0.2.1"}, want: []string{`--dns-server must be`, "192.0.2.53:53"}},
		{args: []string{"--loa-link", "mail"}, want: []string{"--loa-link must be answers or mail-only"}},
		{args: []string{"--number-proof", "mail"}, want: []string{"--number-proof must be none or call"}},
		{args: []string{"--number-proof-from", "+14155550100"}, want: []string{"--number-proof-from requires --number-proof call"}},
		{args: []string{"--number-proof", "call", "--number-proof-from", "4155550100"}, want: []string{"--number-proof-from must be a number in E.164"}},
		{args: []string{"--loa-link", ""}, want: []string{"--loa-link must be answers or mail-only"}},
		{env: "CALLWRIGHT_LOA_LINK=Mail-Only", want: []string{"--loa-link must be answers or mail-only"}},
		{args: []string{"--public-url", "https://voice.example.com/a b"}, want: []string{"--public-url", "%20"}},
	} {
		var environ []string
		if test.env != "" {
			environ = []string{test.env}
		}
		_, err := parse(test.args, environ)
		if err == nil {
			t.Errorf("%v %s was taken", test.args, test.env)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v %s gave %q, want %q in it", test.args, test.env, err, want)
			}
		}
		if strings.Contains(err.Error(), "ParseAddr") || strings.Contains(err.Error(), "parse error") {
			t.Errorf("%v %s gave %q: words of Go", test.args, test.env, err)
		}
	}
}
