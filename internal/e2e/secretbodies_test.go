package e2e_test

import "strings"

// exercise is a request whose body contains a secret at every §, a private text at every ¶, and a text that is encrypted at rest at every
// ‡. HOOKS is the URL of another system, PHONE the address of a phone, and ASKS the address of a system that asks for a password. {name} is
// an id or a token from an earlier answer.
type exercise struct{ method, target, body string }

// shownTools are the tools of an agent. Answers may contain their members, except secrets.
const shownTools = `[{"name":"track","description":"Says where an order is.","url":"HOOKS/orders?key=§","method":"POST",
	"headers":{"Authorization":"Bearer §"},"body":{"key":"§"},"input_schema":{"type":"object","properties":{}}}]`

// shownMembers are the members of agents that answers may contain, except secrets.
const shownMembers = `"webhook":"HOOKS/hook?token=§","tools":` + shownTools + `,
	"dynamic_data":[
		{"url":"HOOKS/customers?key=§","method":"POST","headers":[{"key":"Authorization","value":"Bearer §"}],
			"query":[{"key":"k","value":"§"}],"body":[{"key":"k","value":"§"}],"response_data":[{"name":"name","data":"$.name"}]},
		{"url":"HOOKS/broken?key=§"}]`

// askingNodes are the nodes and edges of a pathway that asks two systems. One of them closes the connection without an answer.
const askingNodes = `"nodes":[
	{"id":"begin","type":"Default","data":{"name":"Begin","isStart":true,"text":"Hello."}},
	{"id":"ask","type":"Webhook","data":{"name":"Ask","url":"HOOKS/node?key=§","method":"POST","headers":{"Authorization":"Bearer §"},
		"body":"{\"key\":\"§\"}","tools":[{"name":"track","description":"d","url":"HOOKS/orders?key=§","headers":{"Authorization":"§"}}]}},
	{"id":"broken","type":"Webhook","data":{"name":"Broken","url":"HOOKS/broken?key=§","method":"POST","headers":[["X-Key","§"]],"body":"§"}},
	{"id":"end","type":"End Call","data":{"name":"End","text":"Goodbye."}}],
	"edges":[{"id":"1","source":"begin","target":"ask","data":{"alwaysPick":true}},
		{"id":"2","source":"ask","target":"broken","data":{"alwaysPick":true}},
		{"id":"3","source":"broken","target":"end","data":{"alwaysPick":true}}]`

const (
	inboundDirection = `{"type":"inbound","auth_mode":"register","sip_endpoint":"ASKS","register_auth":{"username":"acme","password":"§"},
		"headers":{"headers":[{"type":"custom","key":"X-In","value":"§"}]}}`
	outboundDirection = `{"type":"outbound","sip_endpoint":"ASKS","options":{"sip_username":"acme","sip_password":"§"},
		"headers":{"headers":[{"type":"custom","key":"X-Key","value":"§","passthrough":true}]}}`
	scenario = `"name":"s","input_messages":[{"role":"user","content":"¶"}],"scenario_type":"REPLAY","webhook_mocks":[{"url":"HOOKS/node?key=§"}],
		"assertions":[{"type":"WEBHOOK_TRIGGERED","config":{"url":"HOOKS/node?key=§"}}]`
)

// portMembers are the members of port requests. Answers may contain the last characters of the account number.
const portMembers = `"webhook_url":"HOOKS/port?token=§","losing_carrier_information":{
	"customer_type":"business","business_name":"‡","first_name":"‡","last_name":"‡","account_number":"§88231","pin":"§",
	"authorized_representative_email":"‡@example.com","notification_emails":["‡@example.com"],
	"address":{"street":"‡","street2":"‡","city":"‡","state":"CA","zip":"94607","country":"US"}}`

// exercises contain every member that the contract marks as a secret. Operations of areas that are not served answer 501.
var exercises = []exercise{
	{"POST", "/v1/sip/attach", `{"phone_number":"+14155550100","service":"sip","directions":[` + inboundDirection + `,` + outboundDirection + `]}`},
	{"POST", "/v1/sip/attach", `{"phone_number":"+14155550101","service":"sip","directions":[{"type":"inbound","sip_endpoint":"ASKS",
		"options":{"auth_mode":"register","register_auth":{"username":"acme","password":"§"}}}]}`},
	{"POST", "/v1/sip/attach", `{"phone_number":"+14155550102","service":"sip","directions":[{"type":"outbound","sip_endpoint":"PHONE"}]}`},
	{"POST", "/v1/sip/attach", `{"phone_number":"+14155550106","service":"sip","direction":"inbound","auth_mode":"register","sip_endpoint":"ASKS",
		"register_auth":{"username":"acme","password":"§"},"headers":{"headers":[{"type":"custom","key":"X-In","value":"§"}]}}`},
	{"POST", "/v1/sip/attach", `{"phone_number":"+14155550107","service":"sip","direction":"inbound","sip_endpoint":"ASKS",
		"options":{"auth_mode":"register","register_auth":{"username":"acme","password":"§"}}}`},
	{"POST", "/v1/sip/attach", `{"phone_number":"+14155550108","service":"sip","direction":"outbound","sip_endpoint":"PHONE",
		"options":{"sip_username":"acme","sip_password":"§"}}`},
	{"POST", "/v1/sip/update", `{"phone_number":"+14155550101","updates":{"type":"inbound","register_auth":{"username":"acme","password":"§"},
		"headers":{"headers":[{"type":"custom","key":"X-In","value":"§"}]}}}`},
	{"POST", "/v1/sip/update", `{"phone_number":"+14155550101","updates":{"type":"inbound",
		"options":{"auth_mode":"register","register_auth":{"username":"acme","password":"§"}}}}`},
	{"POST", "/v1/sip/update", `{"phone_number":"+14155550100","updates":{"type":"outbound","options":{"sip_username":"acme","sip_password":"§"}}}`},
	{"PATCH", "/v1/sip/config", `{"phone_number":"+14155550100","direction":"outbound",
		"alert_config":{"enabled":true,"channels":{"webhook":"HOOKS/alert?token=§"},"thresholds":{"unreachable_minutes":1}}}`},
	{"POST", "/v1/agents", `{"brain_url":"HOOKS/brain?key=§"}`},
	{"POST", "/v1/agents/{agent_id}", `{"brain_url":"HOOKS/brain?key=§"}`},
	{"POST", "/v1/inbound/+14155550100", `{"brain_url":"HOOKS/brain?key=§"}`},
	{"POST", "/v1/calls", `{"phone_number":"+14155550125","from":"+14155550102","brain_url":"HOOKS/brain?key=§","voice":"` + agentVoice + `"}`},
	{"POST", "/v1/agents", `{"prompt":"Be kind.","voice":"` + agentVoice + `",` + shownMembers + `}`},
	{"POST", "/v1/agents/{agent_id}", `{` + shownMembers + `}`},
	{"POST", "/v1/inbound/+14155550100", `{"prompt":"Be kind.",` + shownMembers + `}`},
	{"POST", "/v1/calls", `{"phone_number":"+14155550123","from":"+14155550102","task":"Be kind.","voice":"` + agentVoice + `","record":true,
		"summary_prompt":"Sum up.","webhook_events":["queue","call","latency","webhook","tool","dynamic_data"],
		"request_data":{"account":"¶"},"metadata":{"account":"¶"},` + shownMembers + `}`},
	{"POST", "/v1/calls", `{"phone_number":"+14155550124","from":"+14155550100","task":"Be kind.",` + shownMembers + `}`},
	{"POST", "/v1/pathway/create", `{"name":"p",` + askingNodes + `}`},
	{"POST", "/v1/pathway/{pathway_id}", `{"name":"p",` + askingNodes + `}`},
	{"POST", "/v1/pathway/{pathway_id}/version", `{"name":"v",` + askingNodes + `}`},
	{"POST", "/v1/pathway/{pathway_id}/version/1/fork", `{"name":"f",` + askingNodes + `}`},
	{"POST", "/v1/pathway/{pathway_id}/publish", `{"version_id":1}`},
	{"POST", "/v1/pathway/chat/create", `{"pathway_id":"{pathway_id}","request_data":{"account":"¶"}}`},
	{"POST", "/v1/pathway/chat/{chat_id}", `{"message":"Go on."}`},
	{"POST", "/v1/agent-testing/scenarios", `{"pathway_id":"{pathway_id}",` + scenario + `}`},
	{"PUT", "/v1/agent-testing/scenarios/{scenario_id}", `{` + scenario + `}`},
	{"POST", "/v1/agent-testing/scenarios/{scenario_id}/run", `{"version_number":1,"webhook_url":"HOOKS/run?token=§"}`},
	{"POST", "/v1/agent-testing/batch-run", `{"scenario_ids":["{scenario_id}"],"version_number":1,"webhook_url":"HOOKS/run?token=§"}`},
	{"POST", "/v1/agent-testing/scenarios/{scenario_id}/rescore", `{"assertions":[{"type":"WEBHOOK_TRIGGERED","config":{"url":"HOOKS/node?key=§"}}]}`},
	{"POST", "/v1/personas", `{"name":"p","orchestration_prompt":"Be kind to ¶.","default_tools":` + shownTools + `}`},
	{"PATCH", "/v1/personas/{persona_id}", `{"personality_prompt":"Be kind to ¶.","default_tools":` + shownTools + `}`},
	{"POST", "/v1/personas/{persona_id}/promote", ""},
	{"POST", "/v1/sip/port/initiate", `{"phone_numbers":["+14157770000","+14157770001"],"documents":["{document_sid}"],
		"number_pins":[{"phone_number":"+14157770001","pin":"§"}],` + portMembers + `}`},
	{"GET", "/loa/{token}", ""},
	{"GET", "/loa/{token}/letter.pdf", ""},
	{"POST", "/loa/{token}", "decision=decline&reason=‡"},
	{"POST", "/v1/sip/port/initiate", `{"phone_numbers":["+14157770002"],"documents":["{document_sid}"],` + portMembers + `}`},
	{"DELETE", "/v1/sip/port/{port_request_id}", ""},
	{"POST", "/v1/sip/port/initiate", `{"phone_numbers":["+14157770003"],"documents":["{document_sid}"],
		"number_pins":[{"phone_number":"+14157770003","pin":"§"}],` + strings.Replace(portMembers, `"first_name":"‡","last_name":"‡"`,
		`"first_name":"Robin","last_name":"Doe"`, 1) + `}`},
	{"POST", "/v1/sip/port/{port_request_id}/letter/resend", ""},
	{"GET", "/loa/{token}", ""},
	{"POST", "/loa/{token}", "decision=sign&signer_name=Robin+Doe&signer_title=‡&consent=yes&authority=yes&letter_sha256={letter_sha256}"},
	{"GET", "/loa/{token}/letter.pdf", ""},
}

// innocents maps members that are named like a secret, but contain none, to the reason.
var innocents = map[string]string{
	"Idempotency-Key":     "tells requests apart, and opens nothing",
	"key":                 "name of a header, a variable or a field; its value stands beside it",
	"external_link":       "link that people of the organization follow",
	"external_urls[]":     "links that people of the organization follow",
	"resource_link_ids[]": "ids",
	"image_url":           "picture that people of the organization see",
}

// innocent reports whether the last member of a path is in innocents.
func innocent(path string) bool {
	_, ok := innocents[path[strings.LastIndexByte(path, '.')+1:]]
	return ok
}
