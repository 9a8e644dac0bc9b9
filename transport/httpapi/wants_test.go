package httpapi_test

import "testing"

// TestRefusalsSayWhatIsWanted checks that errors about a type, a limit or an enumeration describe the valid values.
func TestRefusalsSayWhatIsWanted(t *testing.T) {
	t.Parallel()
	h := open(t)
	call := func(member string) string { return `{"phone_number":"` + theirNumber + `","task":"x",` + member + `}` }
	for _, c := range []struct{ method, target, body, path, want string }{
		{"POST", "/v1/calls", call(`"record":1`), "record", "record: must be true or false"},
		{"POST", "/v1/calls", call(`"max_duration":99999`), "max_duration", "max_duration: must be a number of minutes from 0.01 to 720"},
		{"POST", "/v1/calls", call(`"max_duration":"9"`), "max_duration", "max_duration: must be a number of minutes from 0.01 to 720"},
		{"POST", "/v1/calls", call(`"retry":{"wait":1.5}`), "retry.wait", "retry.wait: must be a whole number of seconds from 1 to 86400"},
		{"POST", "/v1/calls", call(`"start_time":"soon"`), "start_time", "start_time: must be a date-time such as 2026-03-02T09:15:00Z"},
		{"POST", "/v1/calls", call(`"webhook_events":["x"]`), "webhook_events[0]", "webhook_events[0]: must be one of queue, call, latency, webhook, tool, dynamic_data, citations, evals, post_transfer_transcript"},
		{"POST", "/v1/calls", call(`"metadata":[]`), "metadata", "metadata: must be an object"},
		{"POST", "/v1/calls", call(`"voicemail":7`), "voicemail", "voicemail: must be an object"},
		{"POST", "/v1/calls", call(`"pathway_version":{}`), "pathway_version", "pathway_version: must be a whole number from 0 to 1000000 or one of production, staging"},
		{"POST", "/v1/calls", `[]`, "", "the body must be an object"},
		{"POST", "/v1/agents", `{"prompt":"x","interruption_threshold":-1}`, "interruption_threshold", "interruption_threshold: must be a number of milliseconds from 0 to 10000"},
		{"POST", "/v1/inbound/14155550100", `{}`, "", "at least one member is required"},
		{"POST", "/v1/inbound/14155550100", `{"record":"yes"}`, "record", "record: must be true or false"},
		{"POST", "/v1/triage/issues", `{"title":"x","severity":"hgh"}`, "severity", "severity: must be one of critical, high, medium, low"},
		{"POST", "/v1/triage/issues", `{"title":"x","attachments":["x"]}`, "attachments", "attachments: is not a known property"},
		{"POST", "/v1/triage/issues", `{"title":"x","attachments":"x"}`, "attachments", "attachments: is not a known property"},
		{"GET", "/v1/calls?limit=many", "", "limit", "limit: must be a whole number from 1 to 1000"},
		{"GET", "/v1/calls?limit=0", "", "limit", "limit: must be a whole number from 1 to 1000"},
		{"GET", "/v1/calls?completed=perhaps", "", "completed", "completed: must be true or false"},
		{"GET", "/v1/calls?status=fine", "", "status", "status: must be one of completed, failed, busy, no-answer, canceled, unknown"},
		{
			"GET", "/v1/sip/port?status=completed&status=foo", "", "status[1]",
			"status[1]: must be one of waiting_for_signature, submitted, in_progress, completed, canceled, failed",
		},
		{"GET", "/v1/pathway/p1/version/one", "", "version", "version: must be a whole number from 0 to 1000000"},
		{
			"POST", "/v1/sip/attach", `{"phone_number":"` + ourNumber + `","service":"sip","directions":[{"type":"outbound",
			"sip_endpoint":"sip:a.example.com","options":{"transport":"udp"}}]}`,
			"directions[0].options.transport", "directions[0].options.transport: must be tls",
		},
	} {
		answer := h.want(400, c.method, c.target, c.body)
		path, _ := at(t, answer, "errors", 0, "path").(string)
		if got := at(t, answer, "errors", 0, "message"); got != c.want || path != c.path {
			t.Errorf("%s %s %s: got %q about %q, want %q", c.method, c.target, c.body, got, path, c.want)
		}
	}
}
