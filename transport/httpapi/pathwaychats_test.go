package httpapi_test

import (
	"net/http"
	"testing"
)

func TestChatIsHeldToItsEnd(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.drawn()
	begun := h.want(http.StatusCreated, "POST", "/v1/pathway/chat/create", `{"pathway_id":"`+id+`","request_data":{"name":"Robin"}}`)
	chat, _ := at(t, begun, "data", "chat_id").(string)
	if at(t, begun, "data", "message") != "Which day suits you, Robin?" || at(t, begun, "data", "variables", "name") != "Robin" ||
		begun["errors"] != nil {
		t.Fatalf("begun %v", begun)
	}
	unclear := h.want(http.StatusOK, "POST", "/v1/pathway/chat/"+chat, `{"message":"Well, let me see."}`)
	if at(t, unclear, "data", "completed") != false || at(t, unclear, "data", "current_node_id") != "greeting" ||
		at(t, unclear, "data", "current_node_name") != "Greeting" {
		t.Errorf("unclear %v", unclear)
	}
	over := h.want(http.StatusOK, "POST", "/v1/pathway/chat/"+chat, `{"message":"On Tuesday, please."}`)
	if at(t, over, "data", "assistant_responses", 0) != "Tuesday it is. Goodbye." || at(t, over, "data", "completed") != true ||
		at(t, over, "data", "current_node_id") != "goodbye" || at(t, over, "data", "current_node_name") != "Goodbye" ||
		at(t, over, "data", "variables", "day") != "Tuesday" || at(t, over, "data", "pathway_version") != 0.0 ||
		at(t, over, "data", "pathway_id") != id {
		t.Errorf("over %v", over)
	}
	decided := at(t, over, "data", "pathway_logs", 0)
	for i := 0; at(t, decided, "chosen_node_id") == nil; i++ {
		decided = at(t, over, "data", "pathway_logs", i)
	}
	if at(t, decided, "chosen_node_id") != "goodbye" || at(t, decided, "decision") == "" ||
		at(t, begun, "data", "pathway_logs", 0, "created_at") == nil {
		t.Errorf("decided %v", decided)
	}
	history, _ := at(t, over, "data", "chat_history").([]any)
	first, last := at(t, history, 0), at(t, history, len(history)-1)
	if at(t, first, "role") != "assistant" || at(t, first, "content") != "Which day suits you, Robin?" ||
		at(t, history, 1, "role") != "user" || at(t, last, "content") != "Tuesday it is. Goodbye." {
		t.Errorf("history %v", history)
	}
	again := h.want(http.StatusConflict, "POST", "/v1/pathway/chat/"+chat, `{"message":"Hello?"}`)
	if at(t, again, "errors", 0, "error") != "INVALID_STATE" {
		t.Errorf("again %v", again)
	}
}

func TestChatTakesTheVersionThatIsAskedFor(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.drawn()
	h.want(http.StatusCreated, "POST", "/v1/pathway/"+id+"/version", `{"name":"Short",`+shortGraph+`}`)
	for version, want := range map[string]string{`,"pathway_version":1`: "Not today.", `,"pathway_version":0`: "Which day suits you, ?", "": "Which day suits you, ?"} {
		begun := h.want(http.StatusCreated, "POST", "/v1/pathway/chat/create", `{"pathway_id":"`+id+`"`+version+`}`)
		if at(t, begun, "data", "message") != want {
			t.Errorf("%q: %v", version, begun)
		}
	}
	h.want(http.StatusNotFound, "POST", "/v1/pathway/chat/create", `{"pathway_id":"`+id+`","pathway_version":"production"}`)
	h.want(http.StatusOK, "POST", "/v1/pathway/"+id+"/publish", `{"version_id":1}`)
	for _, version := range []string{`,"pathway_version":"production"`, ""} {
		begun := h.want(http.StatusCreated, "POST", "/v1/pathway/chat/create", `{"pathway_id":"`+id+`"`+version+`}`)
		if at(t, begun, "data", "message") != "Not today." {
			t.Errorf("%q: %v", version, begun)
		}
	}
}

func TestChatsThatAreNotThere(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.drawn()
	begun := h.want(http.StatusCreated, "POST", "/v1/pathway/chat/create", `{"pathway_id":"`+id+`"}`)
	chat, _ := at(t, begun, "data", "chat_id").(string)
	_, other := h.tenant("other")
	foreign := h.want(http.StatusNotFound, "POST", "/v1/pathway/chat/"+chat, `{"message":"Hi."}`, header{"Authorization", other})
	absent := h.want(http.StatusNotFound, "POST", "/v1/pathway/chat/nobodys", `{"message":"Hi."}`)
	if at(t, foreign, "errors", 0, "message") != at(t, absent, "errors", 0, "message") || foreign["data"] != nil {
		t.Errorf("foreign %v, absent %v", foreign, absent)
	}
	h.want(http.StatusBadRequest, "POST", "/v1/pathway/chat/create", `{"pathway_id":"`+id+`","start_node_id":"nowhere"}`)
	h.want(http.StatusBadRequest, "POST", "/v1/pathway/chat/"+chat, `{}`)
}
