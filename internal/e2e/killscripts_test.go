package e2e_test

// These constants are the graph of the stories' pathways, and its two nodes that answer "One." and "Two." in turn.
const (
	saysOne = `{"id":"one","type":"Wait for Response","data":{"name":"One","text":"One."}}`
	saysTwo = `{"id":"two","type":"Wait for Response","data":{"name":"Two","text":"Two."}}`
	graphOf = `"nodes":[{"id":"begin","type":"Wait for Response","data":{"name":"Begin","isStart":true,"text":"Go on."}},` +
		saysOne + `,` + saysTwo + `],"edges":[{"id":"e1","source":"begin","target":"one","data":{"alwaysPick":true}},` +
		`{"id":"e2","source":"one","target":"two","data":{"alwaysPick":true}},` +
		`{"id":"e3","source":"two","target":"one","data":{"alwaysPick":true}}]`
)

// scripts returns the lists of scripts. Each writer runs the scripts of one list in turn.
func scripts() [][]*script {
	return [][]*script{trunkScripts(), agentScripts(), pathwayScripts(), issueScripts(), scenarioScripts(), personaScripts()}
}

func scenarioScripts() []*script {
	id := map[string]string{"id": "name=$name"}
	scenario := func(name string, steps ...step) *script {
		return &script{
			name: name, list: "/v1/agent-testing/scenarios?limit=100", pages: "offset", views: []string{"/v1/agent-testing/scenarios/$id"}, steps: steps,
		}
	}
	create := step{op: "createTestScenario", body: `{"pathway_id":"$pathway","name":"$name","tester_persona_prompt":"You are in a hurry.","assertions":[{"type":"NODE_REACHED","config":{"node_id":"one"}}]}`}
	return []*script{
		scenario("a scenario", create,
			step{op: "updateTestScenario", ids: id, body: `{"max_turns":7,"is_required_for_promotion":true}`},
			step{op: "updateTestScenario", ids: id, body: `{"assertions":[],"is_required_for_promotion":false}`},
		),
		scenario("a scenario of a template",
			step{op: "cloneTestTemplate", ids: map[string]string{"id": "tmpl_custom"}, body: `{"pathway_id":"$pathway","name":"$name"}`}),
		scenario("a scenario that goes", create, step{op: "deleteTestScenario", ids: id}),
	}
}

func personaScripts() []*script {
	id := map[string]string{"id": "name=$name"}
	persona := func(name string, steps ...step) *script {
		return &script{
			name: name, list: "/v1/personas?limit=100", pages: "page", views: []string{"/v1/personas/$id", "/v1/personas/$id/versions"}, steps: steps,
		}
	}
	create := step{op: "createPersona", body: `{"name":"$name","orchestration_prompt":"Begin."}`}
	change := step{op: "updatePersona", ids: id, body: `{"orchestration_prompt":"Go on."}`}
	promote := step{op: "promotePersona", ids: id}
	return []*script{
		persona("a persona", create, change, promote,
			step{op: "updatePersona", ids: id, body: `{"role":"Host","personality_prompt":"Calm."}`},
			step{op: "discardPersonaDraft", ids: id},
			step{op: "updatePersona", ids: id, body: `{"call_config":{"record":true}}`}, promote,
		),
		persona("a persona that goes", create, change, step{op: "deletePersona", ids: id}),
	}
}

func trunkScripts() []*script {
	attach := step{op: "attachSipNumbers", keyed: true, body: `{"phone_number":"+$number","service":"sip","directions":[` +
		`{"type":"outbound","sip_endpoint":"sip:127.0.0.1:9;transport=tls"},{"type":"inbound","auth_mode":"ip"}]}`}
	return []*script{
		trunkScript("a trunk", attach,
			step{op: "updateSipNumber", body: `{"phone_number":"+$number","updates":{"type":"outbound","sip_endpoint":"sip:127.0.0.1:10;transport=tls"}}`},
			step{op: "updateSipConfig", body: `{"phone_number":"+$number","direction":"outbound","codec_config":{"codecs":["PCMU"]}}`},
			step{op: "updateInboundNumber", body: `{"prompt":"Greet as $name.","max_duration":7}`, ids: map[string]string{"phone_number": "+$number"}},
		),
		trunkScript("a trunk that goes", attach,
			step{op: "updateInboundNumber", body: `{"prompt":"Greet as $name."}`, ids: map[string]string{"phone_number": "+$number"}},
			step{op: "detachSipNumber", body: `{"phone_number":"+$number","service":"sip","directions":[{"type":"inbound"},{"type":"outbound"}]}`},
			step{op: "attachSipNumbers", keyed: true, body: `{"phone_number":"+$number","service":"sip","directions":[{"type":"inbound","auth_mode":"ip"}]}`},
		),
	}
}

func trunkScript(name string, steps ...step) *script {
	return &script{
		name: name, list: "/v1/sip/numbers", steps: steps,
		views: []string{"/v1/sip?phone_number=%2B$number", "/v1/sip/config?direction=outbound&phone_number=%2B$number", "/v1/inbound/%2B$number"},
	}
}

func agentScripts() []*script {
	create := step{op: "createAgent", body: `{"prompt":"Begin.","metadata":{"of":"$name"},"voice_settings":{"speed":1}}`}
	id := map[string]string{"agent_id": "prompt=Begin."}
	changed := map[string]string{"agent_id": "prompt=Go on."}
	change := step{op: "updateAgent", ids: id, body: `{"prompt":"Go on.","max_duration":7}`}
	agent := func(name string, steps ...step) *script {
		return &script{name: name, list: "/v1/agents?limit=1000", views: []string{"/v1/agents/$id"}, steps: steps}
	}
	return []*script{
		agent("an agent", create, change),
		agent("an agent that goes", create, change, step{op: "deleteAgent", ids: changed}),
		agent("another agent that goes", create, step{op: "removeAgent", ids: id}),
	}
}

func pathwayScripts() []*script {
	id := map[string]string{"id": "name=$name"}
	version := func(number string) map[string]string { return map[string]string{"id": "name=$name", "version": number} }
	pathway := func(name string, steps ...step) *script {
		return &script{
			name: name, list: "/v1/pathway?limit=100", pages: "offset", views: []string{"/v1/pathway/$id", "/v1/pathway/$id/versions"}, steps: steps,
		}
	}
	create := step{op: "createPathway", body: `{"name":"$name",` + graphOf + `}`}
	save := step{op: "createPathwayVersion", ids: id, body: `{"name":"first",` + graphOf + `}`}
	return []*script{
		pathway("a pathway", create, save,
			step{op: "publishPathway", ids: id, body: `{"version_id":1}`},
			step{op: "forkPathwayVersion", ids: version("1"), body: `{"name":"second"}`},
			step{op: "updatePathway", ids: id, body: `{"description":"changed"}`},
			step{op: "createPathwayVersion", ids: id, body: `{"name":"third",` + graphOf + `}`},
			step{op: "publishPathway", ids: id, body: `{"version_id":3}`},
			step{op: "deletePathwayVersion", ids: version("2")},
		),
		pathway("a pathway that goes", create, save, step{op: "deletePathway", ids: id}),
	}
}

func issueScripts() []*script {
	in := func(more ...string) map[string]string {
		ids := map[string]string{"id": "title=$name"}
		for i := 0; i+1 < len(more); i += 2 {
			ids[more[i]] = more[i+1]
		}
		return ids
	}
	issue := func(name string, steps ...step) *script {
		return &script{
			name: name, list: "/v1/triage/issues?limit=100&sort=created_at&order=asc&search=$name", steps: steps,
			views: []string{
				"/v1/triage/issues/$id", "/v1/triage/issues/$id/activity?limit=100", "/v1/triage/issues/$id/flags",
				"/v1/triage/issues/$id/resources", "/v1/triage/issues/$id/relations",
			},
		}
	}
	create := step{op: "createIssue", body: `{"title":"$name"}`}
	other := step{op: "createIssue", body: `{"title":"other $name"}`}
	comment := step{op: "addIssueComment", ids: in(), body: `{"detail":"the first comment"}`}
	attach := step{op: "attachIssueResource", ids: in(), body: `{"resource_type":"call","resource_id":"$call"}`}
	session := in("session_id", "agent_name=analyst")
	return []*script{
		issue("an issue", create, comment,
			step{op: "addIssueComment", ids: in(), body: `{"detail":"the second comment"}`},
			step{op: "editIssueComment", ids: in("comment_id", "detail=the first comment"), body: `{"detail":"the first comment, changed"}`},
			step{op: "deleteIssueComment", ids: in("comment_id", "detail=the second comment")},
			step{op: "decideIssue", ids: in(), body: `{"decision":"accepted","detail":"it is"}`},
			step{op: "updateIssue", ids: in(), body: `{"severity":"high","status":"in_review"}`},
		),
		issue("an issue with a call", create, attach,
			step{op: "addIssueFlag", ids: in(), body: `{"call_id":"$call","type":"wrong","note":"a note"}`},
			step{op: "markIssueSeen", ids: in(), same: true},
			step{op: "removeIssueFlag", ids: in("flag_id", "note=a note")},
			step{op: "detachIssueResource", ids: in("resource_id", "resource_id=$call")},
		),
		issue("an issue with an agent", create,
			step{op: "startIssueAgentSession", ids: in(), body: `{"agent_name":"analyst"}`},
			step{op: "addIssueAgentEntry", ids: session, body: `{"type":"thought","detail":"a thought"}`},
			step{op: "addIssueAgentEntry", ids: session, body: `{"type":"session_stopped","session_status":"complete"}`},
		),
		issue("two issues", create, other, comment, attach,
			step{op: "relateIssue", ids: in(), body: `{"related_issue_id":"$other","relation_type":"blocks"}`},
			step{op: "unrelateIssue", ids: in("relation_id", "relation_type=blocks")},
			step{op: "mergeIssue", ids: in(), body: `{"into":"$other"}`},
		),
		issue("an issue that goes", create, comment, step{op: "deleteIssue", ids: in()}),
	}
}
