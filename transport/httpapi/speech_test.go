package httpapi_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/callwright/callwright/speech"
)

func TestSpeakAndReadSamples(t *testing.T) {
	t.Parallel()
	h := open(t)
	body := `{"text":"Good morning.","voice":"ADA","language":"en","output_format":"pcm_8000"}`
	id, link := h.spoken(body)
	if line := h.requestLine(); at(t, line, "ids", "sample_id") != id {
		t.Errorf("the log has %v", line)
	}
	shown := h.want(200, "GET", "/v1/speak/samples/"+id, "")
	for name, want := range map[string]any{
		"id": id, "sample_id": id, "org_id": string(h.org), "text": "Good morning.", "voice_id": "ada", "language": "en",
		"output_format": "pcm_8000", "cost": nil, "duration_ms": 650.0,
	} {
		if got := at(t, shown, "data", name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if user, _ := at(t, shown, "data", "user_id").(string); user == "" {
		t.Error("the sample has no key")
	}
	inline, _ := at(t, shown, "data", "audio_data").(string)
	file, err := base64.StdEncoding.DecodeString(inline)
	audio := h.do("GET", link, "", header{"Authorization", ""})
	if err != nil || string(file) != audio.Body.String() || !strings.HasPrefix(string(file), "RIFF") {
		t.Errorf("%d bytes inline, %d by the link, %v", len(file), audio.Body.Len(), err)
	}
	other, _ := h.spoken(`{"text":"Good morning.","voice_id":"ben"}`)
	silent := h.want(200, "GET", "/v1/speak/samples/"+other, "")
	if at(t, silent, "data", "language") != nil || at(t, silent, "data", "output_format") != "pcm_44100" {
		t.Errorf("the defaults are %v", silent)
	}
	list := h.want(200, "GET", "/v1/speak/samples?limit=1", "")
	if list["total"] != 2.0 || list["limit"] != 1.0 || list["offset"] != 0.0 || at(t, list, "data", 0, "id") != other {
		t.Errorf("the list is %v", list)
	}
	if _, has := at(t, list, "data", 0).(map[string]any)["audio_data"]; has {
		t.Error("a list has audio")
	}
	list = h.want(200, "GET", "/v1/speak/samples?voice_id=Ada&offset=0", "")
	if list["total"] != 1.0 || at(t, list, "data", 0, "id") != id {
		t.Errorf("the samples of ada are %v", list)
	}
	if list = h.want(200, "GET", "/v1/speak/samples?voice_id=nobody", ""); list["total"] != 0.0 {
		t.Errorf("nobody has spoken %v", list)
	}
}

// TestLargeAudioIsLeftToItsLink checks that JSON answers omit audio of more than 4 MiB, which the link serves.
func TestLargeAudioIsLeftToItsLink(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, link := h.spoken(fmt.Sprintf(`{"text":%q,"output_format":"pcm_48000"}`, strings.Repeat("Good morning to all. ", 45)))
	shown := h.want(200, "GET", "/v1/speak/samples/"+id, "")
	if at(t, shown, "data", "audio_data") != nil {
		t.Error("a large file is within JSON")
	}
	if audio := h.do("GET", link, ""); audio.Body.Len() <= 4<<20 {
		t.Errorf("the file has only %d bytes", audio.Body.Len())
	}
}

func TestTextsAndVoicesThatAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	sent(t, h.clone(part{"name", "", "Ines"}, part{"audio_samples", "a.wav", aVoice()}), 200)
	_, stranger := h.tenant("stranger")
	theirs := sent(t, h.send("POST", "/v1/speak", strings.NewReader(`{"text":"Hi.","voice":"Ines"}`),
		header{"Authorization", stranger}, header{"Content-Type", "application/json"}), 400)
	if at(t, theirs, "errors", 0, "message") != `voice: unknown voice "Ines" (3 voices are known)` {
		t.Errorf("the voice of another organization: %v", theirs)
	}
	for name, c := range map[string]struct{ body, path, message string }{
		"empty":         {`{"text":""}`, "text", "text: has a length of 0; at least 1 is required"},
		"blank":         {`{"text":" \n"}`, "text", "text: must not be empty"},
		"none":          {`{}`, "text", "text: is required"},
		"too long":      {`{"text":"` + strings.Repeat("ü", speech.MaxText+1) + `"}`, "text", "text: has a length of 5001; at most 5000 is allowed"},
		"control":       {`{"text":"a\u001bb"}`, "text", "text: must not have control characters other than tabs and line breaks"},
		"bell, C1":      {`{"text":"a\u0085b"}`, "text", "text: must not have control characters other than tabs and line breaks"},
		"voice":         {`{"text":"Hi.","voice":"Inez"}`, "voice", `voice: unknown voice "Inez": did you mean Ines?`},
		"voice by id":   {`{"text":"Hi.","voice_id":"bem"}`, "voice_id", `voice_id: unknown voice "bem": did you mean ben?`},
		"two voices":    {`{"text":"Hi.","voice":"ada","voice_id":"ben"}`, "voice_id", "voice_id: must equal voice: set only one of them"},
		"language":      {`{"text":"Hi.","voice":"ada","language":"fr"}`, "language", `language: the voice "ada" speaks en-US, not "fr"`},
		"format":        {`{"text":"Hi.","output_format":"mp3"}`, "output_format", "output_format: must be one of pcm_8000, pcm_16000, pcm_24000, pcm_44100, pcm_48000, ulaw_8000"},
		"unknown":       {`{"text":"Hi.","colour":"red"}`, "colour", "colour: is not a known property"},
		"long voice":    {`{"text":"Hi.","voice":"` + strings.Repeat("v", 129) + `"}`, "voice", "voice: has a length of 129; at most 128 is allowed"},
		"long language": {`{"text":"Hi.","language":"` + strings.Repeat("e", 36) + `"}`, "language", "language: has a length of 36; at most 35 is allowed"},
	} {
		answer := h.want(400, "POST", "/v1/speak", c.body)
		if at(t, answer, "errors", 0, "path") != c.path || at(t, answer, "errors", 0, "message") != c.message {
			t.Errorf("%s: got %v, want %s", name, answer, c.message)
		}
	}
	h.want(400, "POST", "/v1/speak?colour=red", `{"text":"Hi."}`)
	for _, target := range []string{"/v1/speak/samples?limit=0", "/v1/speak/samples?limit=101", "/v1/speak/samples?offset=1000001", "/v1/speak/samples/x?format=mp3"} {
		h.want(400, "GET", target, "")
	}
	if made := len(h.engine.Requests()); made != 0 {
		t.Errorf("%d texts were synthesized", made)
	}
}

func TestTextsThatAreSpoken(t *testing.T) {
	t.Parallel()
	h := open(t)
	for name, text := range map[string]string{
		"SSML-like": `<speak>Hello <break time=\"2s\"/> & goodbye</speak>`, "longest": strings.Repeat("ü", speech.MaxText),
		"line breaks": `One.\nTwo.\tThree.\r\n`, "not letters": "1 + 1 = 2 🙂",
	} {
		h.spoken(`{"text":"` + text + `","output_format":"pcm_8000"}`)
		if name == "SSML-like" && !strings.Contains(h.engine.Requests()[len(h.engine.Requests())-1].Text, `<break time="2s"/> & goodbye`) {
			t.Errorf("the engine got %v", h.engine.Requests())
		}
	}
	same, _ := h.spoken(`{"text":"Hi.","voice":"ben","voice_id":"ben"}`)
	if at(t, h.want(200, "GET", "/v1/speak/samples/"+same, ""), "data", "voice_id") != "ben" {
		t.Error("both names with one value gave another voice")
	}
}

// TestSpeechThatFails checks that no sample is stored if the engine fails, and that the answer omits the cause.
func TestSpeechThatFails(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.engine.Broken = errors.New("a pipe broke at /usr/bin/engine")
	answer := h.do("POST", "/v1/speak", `{"text":"Good morning."}`)
	if answer.Code != http.StatusInternalServerError || strings.Contains(answer.Body.String(), "pipe") {
		t.Errorf("got %d %s", answer.Code, answer.Body)
	}
	if list := h.want(200, "GET", "/v1/speak/samples", ""); list["total"] != 0.0 {
		t.Errorf("there are samples: %v", list)
	}
}
