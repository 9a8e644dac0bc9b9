package assert_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/callwright/callwright/agenttest/assert"
)

func TestWebhookTriggered(t *testing.T) {
	t.Parallel()
	twice := order()
	twice.Webhooks = append(twice.Webhooks, twice.Webhooks[0], twice.Webhooks[0])
	twice.Webhooks[2].Turn, twice.Webhooks[3].Turn = 3, 4
	twice.Webhooks[2].Visit, twice.Webhooks[3].Visit = 3, 3
	large := order()
	large.Webhooks[0].Body = json.RawMessage(`"` + strings.Repeat("a", assert.MaxTarget) + `"`)
	many := &assert.Evidence{Webhooks: make([]assert.Webhook, assert.MaxCalls+1)}
	odd := order()
	odd.Webhooks[0].Body = json.RawMessage(`{"order":`)
	const orders = `"url":"https://shop.example/orders?x=1"`
	yes := func(name, config string, turn int) evaluation {
		return evaluation{name: name, config: "{" + config + "}", outcome: passed, turn: turn}
	}
	no := func(name, config string) evaluation {
		return evaluation{name: name, config: "{" + config + "}", outcome: failed, code: assert.CodeNoWebhook, turn: none}
	}
	in := func(e *assert.Evidence, c evaluation) evaluation {
		c.e = e
		return c
	}
	evaluate(t, assert.WebhookTriggered, []evaluation{
		yes("exact", orders, 1),
		no("exact, without the query", `"url":"https://shop.example/orders"`),
		yes("prefix", `"url":"https://shop.example/","url_match":"prefix"`, 1),
		no("prefix, not the beginning", `"url":"shop.example/","url_match":"prefix"`),
		yes("glob", `"url":"https://*/orders*","url_match":"glob"`, 1),
		yes("glob, two parts", `"url":"*shop*or*?x=*","url_match":"glob"`, 1),
		no("glob, the end is missing", `"url":"https://*/orders","url_match":"glob"`),
		no("glob, parts in another order", `"url":"*orders*shop*","url_match":"glob"`),
		no("glob, parts do not overlap", `"url":"https://shop.example/orders?x=1*1","url_match":"glob"`),
		yes("glob without a star", orders+`,"url_match":"glob"`, 1),
		no("a star without glob", `"url":"https://*"`),
		yes("method", `"method":"GET"`, 3),
		no("another method", `"method":"PUT"`),
		yes("node", `"node_id":"pay"`, 3),
		{name: "another node", config: `{"node_id":"greet"}`, outcome: failed, code: assert.CodeNoWebhook, turn: none, node: "greet"},
		{name: "a node that was missed", config: `{"node_id":"bye"}`, outcome: failed, code: assert.CodeNoWebhook, turn: none, node: "pay"},
		{name: "unknown node", config: `{"node_id":"nope"}`, outcome: broken, code: assert.CodeUnknownNode, turn: none},
		{name: "unknown node before", config: `{` + orders + `,"before_node":"nope"}`, outcome: broken, code: assert.CodeUnknownNode, turn: none},
		no("all of them", orders+`,"method":"GET"`),
		yes("body", `"request_body":{"order":{"id":7.0},"n":5}`, 1),
		yes("body with a list", `"request_body":{"order":{"items":[{},{"sku":"c"}]}}`, 1),
		yes("any object", `"request_body":{}`, 1),
		no("body with a shorter list", `"request_body":{"order":{"items":[{"sku":"a/b"}]}}`),
		no("body with another member", `"request_body":{"order":{"id":7,"name":"x"}}`),
		no("body with a text for a number", `"request_body":{"n":"5"}`),
		yes("pointer", `"body_match":{"/order/id":7}`, 1),
		yes("pointers", `"body_match":{"/order/items/0/sku":"a/b","/n":5.0}`, 1),
		yes("pointer to the whole", `"body_match":{"":null}`, 3),
		yes("pointer to an object", `"body_match":{"/order/items/1":{"sku":"c"}}`, 1),
		no("pointer to nothing", `"body_match":{"/order/items/2":null}`),
		no("pointer with another index", `"body_match":{"/order/items/00/sku":"a/b"}`),
		no("pointer beyond a text", `"body_match":{"/order/id/0":7}`),
		no("pointer to part of an object", `"body_match":{"/order":{"id":7}}`),
		in(odd, no("body that is no JSON", `"body_match":{"/n":5}`)),
		in(said(), no("no requests", `"url":"u"`)),
		in(twice, yes("enough", orders+`,"min_count":3`, 4)),
		in(twice, yes("the second is enough", orders+`,"min_count":2`, 3)),
		in(twice, no("too few", orders+`,"min_count":4`)),
		in(twice, yes("not too many", orders+`,"max_count":3`, 4)),
		{name: "too many", config: `{` + orders + `,"max_count":2}`, e: twice, outcome: failed, code: assert.CodeManyWebhooks, turn: 4, node: "ask"},
		{name: "forbidden", config: `{"method":"GET","max_count":0}`, outcome: failed, code: assert.CodeManyWebhooks, turn: 3, node: "pay"},
		yes("none is sent", `"method":"PUT","max_count":0`, none),
		yes("at most", `"method":"PUT","min_count":0,"max_count":1`, none),
		yes("before", orders+`,"before_node":"pay"`, 1),
		yes("before a node that is not visited", orders+`,"before_node":"bye"`, 1),
		{name: "not before", config: `{` + orders + `,"before_node":"ask"}`, outcome: failed, code: assert.CodeWrongOrder, turn: 1, node: "ask"},
		yes("after", orders+`,"after_node":"ask"`, 1),
		yes("between", orders+`,"after_node":"greet","before_node":"pay"`, 1),
		{name: "not after", config: `{` + orders + `,"after_node":"pay"}`, outcome: failed, code: assert.CodeWrongOrder, turn: 1, node: "ask"},
		{name: "after a node that is not visited", config: `{` + orders + `,"after_node":"bye"}`, outcome: failed, code: assert.CodeWrongOrder, turn: 1, node: "ask"},
		in(twice, yes("not forbidden before", orders+`,"before_node":"ask","max_count":0`, none)),
		{name: "one too few in time", config: `{` + orders + `,"before_node":"pay","min_count":2}`, e: twice, outcome: failed, code: assert.CodeWrongOrder, turn: 4, node: "ask"},
		{name: "too large", config: `{"body_match":{"/n":5}}`, e: large, outcome: broken, code: assert.CodeTooLarge, turn: none},
		in(large, yes("large bodies that are not compared", orders, 1)),
		{name: "too many requests", config: `{"url":"u"}`, e: many, outcome: broken, code: assert.CodeTooLarge, turn: none},
	})
}
