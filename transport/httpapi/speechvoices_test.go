package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/speech"
)

func TestVoicesAreMadeRenamedAndDeleted(t *testing.T) {
	t.Parallel()
	h := open(t)
	made := sent(t, h.clone(part{"name", "", "Ines"}, part{"gender", "", "female"}, part{"language", "", "en"},
		part{"audio_samples", "a.wav", aVoice()}, part{"audio_samples", "b.wav", aVoice()}), http.StatusOK)
	id, _ := at(t, made, "data", "voice_id").(string)
	if line := h.requestLine(); made["status"] != 200.0 || at(t, made, "data", "name") != "Ines" || at(t, line, "ids", "voice_id") != id {
		t.Errorf("made %v, logged %v", made, line)
	}
	if heard := h.cloner.Clonings(); len(heard) != 1 || len(heard[0].Recordings) != 2 || heard[0].Language != "en" {
		t.Errorf("the cloner got %d requests", len(heard))
	}
	for _, name := range []string{id, "ines", "INES"} {
		voice := h.want(200, "GET", "/v1/voices/"+name, "")
		for member, want := range map[string]any{
			"id": id, "name": "Ines", "public": false, "voice_id": id, "service": "stand-in", "finetuned": true, "kind": "profile",
			"language": "en-US", "description": "Made of 6.0 s",
		} {
			if got := at(t, voice, "voice", member); got != want {
				t.Errorf("%s: %v, want %v", member, got, want)
			}
		}
		if at(t, voice, "voice", "tags", 0) != "female" || at(t, voice, "voice", "created_at") == nil || at(t, voice, "voice", "user_id") == nil {
			t.Errorf("the voice is %v", voice)
		}
	}
	list := h.want(200, "GET", "/v1/voices", "")
	if voices, _ := list["voices"].([]any); len(voices) != 4 || at(t, voices, 0, "id") != id || at(t, voices, 1, "id") != "ada" ||
		at(t, voices, 1, "public") != true || at(t, voices, 1, "kind") != "builtin" || at(t, voices, 1, "created_at") != nil || at(t, voices, 1, "finetuned") != false {
		t.Errorf("the voices are %v", list)
	}
	sample, _ := h.spoken(`{"text":"Hello.","voice":"Ines"}`)
	for path, name := range map[string]string{"/v1/voices/ines": "Zoë", "/v1/voices/" + id + "/rename": "Ines two"} {
		if renamed := h.want(200, "PATCH", path, `{"name":"`+name+`"}`); at(t, renamed, "data", "name") != name || at(t, renamed, "data", "voice_id") != id {
			t.Errorf("%s: %v", path, renamed)
		}
		h.want(200, "PATCH", "/v1/voices/"+id, `{"name":"Ines"}`)
	}
	h.want(404, "GET", "/v1/voices/Zoë", "")
	if gone := h.want(200, "DELETE", "/v1/voices/"+id, ""); at(t, gone, "data", "status") != "success" {
		t.Errorf("deleted: %v", gone)
	}
	h.want(404, "GET", "/v1/voices/"+id, "")
	h.want(404, "DELETE", "/v1/voices/"+id, "")
	h.want(404, "PATCH", "/v1/voices/"+id, `{"name":"Ines"}`)
	if shown := h.want(200, "GET", "/v1/speak/samples/"+sample, ""); at(t, shown, "data", "voice_id") != id {
		t.Errorf("the sample of a deleted voice is %v", shown)
	}
	if of := h.want(200, "GET", "/v1/speak/samples?voice_id="+id, ""); of["total"] != 1.0 {
		t.Errorf("the samples of a deleted voice are %v", of)
	}
}

func TestVoicesThatAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	sent(t, h.clone(part{"name", "", "Ines"}, part{"audio_samples", "a.wav", aVoice()}), 200)
	id, _ := at(t, sent(t, h.clone(part{"name", "", "Bea"}, part{"audio_samples", "a.wav", aVoice()}), 200), "data", "voice_id").(string)
	for name, message := range map[string]string{
		"iNES":                  "name: must be unique: another voice of the organization has this name",
		"ADA":                   "name: must be unique: a voice of the engine has this name",
		"clone":                 `name: must not be "clone", which is reserved`,
		"Clone":                 `name: must not be "clone", which is reserved`,
		strings.Repeat("ü", 31): "name: has a length of 31; at most 30 is allowed",
		"a/b":                   "name: must not contain a slash, because the name is part of URLs",
		" ":                     "name: must not be empty",
		"":                      "name: has a length of 0; at least 1 is required",
		"a\u202eb":              "name: must be one line without control characters or invisible characters",
	} {
		check := func(what string, answer map[string]any) {
			t.Helper()
			if at(t, answer, "errors", 0, "error") != "VALIDATION_ERROR" || at(t, answer, "errors", 0, "path") != "name" || at(t, answer, "errors", 0, "message") != message {
				t.Errorf("%s %q: got %v, want %s", what, name, answer, message)
			}
		}
		check("clone", sent(t, h.clone(part{"name", "", name}, part{"audio_samples", "a.wav", aVoice()}), 400))
		check("rename", h.want(400, "PATCH", "/v1/voices/"+id, fmt.Sprintf(`{"name":%q}`, name)))
		check("rename", h.want(400, "PATCH", "/v1/voices/"+id+"/rename", fmt.Sprintf(`{"name":%q}`, name)))
	}
	sent(t, h.clone(part{"name", "", strings.Repeat("ü", 30)}, part{"audio_samples", "a.wav", aVoice()}), 200)
	for _, path := range []string{"/v1/voices/ada", "/v1/voices/ada/rename"} {
		public := h.want(403, "PATCH", path, `{"name":"Mine"}`)
		if at(t, public, "errors", 0, "error") != "FORBIDDEN" {
			t.Errorf("a public voice: %v", public)
		}
		h.want(400, "PATCH", path+"?colour=red", `{"name":"Mine"}`)
	}
	public := h.want(400, "DELETE", "/v1/voices/ada", "")
	if at(t, public, "errors", 0, "error") != "ERROR_DELETING_VOICE" || at(t, public, "errors", 0, "message") != "the voice ada belongs to the speech engine and cannot be deleted" {
		t.Errorf("a public voice: %v", public)
	}
	h.want(400, "DELETE", "/v1/voices/Bea?colour=red", "")
	h.want(404, "GET", "/v1/voices/Inez", "")
	h.want(404, "GET", "/v1/voices/Xochitl", "")
}

func TestRecordingsThatAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	name := part{"name", "", "Ines"}
	many := make([]part, 11)
	for i := range many {
		many[i] = part{"audio_samples", "a.wav", aVoice()}
	}
	for what, c := range map[string]struct {
		parts  []part
		status int
		code   string
		path   string
	}{
		"a ZIP called .wav":  {[]part{name, {"audio_samples", "a.wav", "PK\x03\x04" + strings.Repeat("x", 1000)}}, 415, "UNSUPPORTED_MEDIA", "audio_samples[0]"},
		"a text, the second": {[]part{name, {"audio_samples", "a.wav", aVoice()}, {"audio_samples", "b.wav", "hello"}}, 415, "UNSUPPORTED_MEDIA", "audio_samples[1]"},
		"a WAV that is cut":  {[]part{name, {"audio_samples", "a.wav", aVoice()[:1000]}}, 415, "UNSUPPORTED_MEDIA", "audio_samples[0]"},
		"empty":              {[]part{name, {"audio_samples", "a.wav", ""}}, 415, "UNSUPPORTED_MEDIA", "audio_samples[0]"},
		"too long":           {[]part{name, {"audio_samples", "a.wav", recording(301 * time.Second)}}, 413, "PAYLOAD_TOO_LARGE", "audio_samples[0]"},
		"silence":            {[]part{name, {"audio_samples", "a.wav", aVoice()[:44] + strings.Repeat("\x00", len(aVoice())-44)}}, 400, "VALIDATION_ERROR", "audio_samples"},
		"no file":            {[]part{name}, 400, "VALIDATION_ERROR", "audio_samples"},
		"a file as a text":   {[]part{name, {"audio_samples", "", "RIFF"}}, 400, "VALIDATION_ERROR", "audio_samples"},
		"too many files":     {slices.Concat(many, []part{name}), 400, "VALIDATION_ERROR", "audio_samples"},
		"no name":            {[]part{{"audio_samples", "a.wav", aVoice()}}, 400, "VALIDATION_ERROR", "name"},
		"a long description": {[]part{name, {"description", "", strings.Repeat("x", 501)}, {"audio_samples", "a.wav", aVoice()}}, 400, "VALIDATION_ERROR", "description"},
		"a long gender":      {[]part{name, {"gender", "", strings.Repeat("x", 31)}, {"audio_samples", "a.wav", aVoice()}}, 400, "VALIDATION_ERROR", "gender"},
		"a short language":   {[]part{name, {"language", "", "e"}, {"audio_samples", "a.wav", aVoice()}}, 400, "VALIDATION_ERROR", "language"},
		"an unknown member":  {[]part{name, {"colour", "", "red"}, {"audio_samples", "a.wav", aVoice()}}, 400, "VALIDATION_ERROR", "colour"},
		"an unknown file":    {[]part{name, {"colour", "a.wav", "red"}, {"audio_samples", "a.wav", aVoice()}}, 400, "VALIDATION_ERROR", "colour"},
		"a long language":    {[]part{name, {"language", "", strings.Repeat("x", 36)}, {"audio_samples", "a.wav", aVoice()}}, 400, "VALIDATION_ERROR", "language"},
		"control characters": {[]part{name, {"gender", "", "a\x1bb"}, {"audio_samples", "a.wav", aVoice()}}, 400, "VALIDATION_ERROR", "gender"},
		"a form of 10 MiB":   {[]part{name, {"audio_samples", "a.wav", strings.Repeat("x", 10<<20+64<<10)}}, 413, "PAYLOAD_TOO_LARGE", ""},
	} {
		answer := sent(t, h.clone(c.parts...), c.status)
		path, _ := at(t, answer, "errors", 0).(map[string]any)["path"].(string)
		if at(t, answer, "errors", 0, "error") != c.code || path != c.path {
			t.Errorf("%s: got %v, want %s about %q", what, answer, c.code, c.path)
		}
	}
	body, contentType := form(name, part{"audio_samples", "a.wav", aVoice()})
	sent(t, h.send("POST", "/v1/voices/clone?colour=red", body, header{"Content-Type", contentType}), 400)
	if list, _ := h.want(200, "GET", "/v1/voices", "")["voices"].([]any); len(list) != 3 {
		t.Errorf("there are %d voices", len(list))
	}
}

// TestVoicesBeyondTheLimit checks that an organization cannot clone more than speech.MaxOwnVoices voices.
func TestVoicesBeyondTheLimit(t *testing.T) {
	t.Parallel()
	h := open(t)
	for i := range speech.MaxOwnVoices {
		v := speech.Voice{ID: fmt.Sprintf("v%d", i), Org: h.org, Name: fmt.Sprintf("Voice %d", i), Kind: speech.KindProfile, Base: "ada", CreatedAt: time.Now(), Version: 1}
		if err := h.voices.InsertVoice(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	full := sent(t, h.clone(part{"name", "", "Ines"}, part{"audio_samples", "a.wav", aVoice()}), 409)
	if at(t, full, "errors", 0, "error") != "INVALID_STATE" {
		t.Errorf("%v", full)
	}
	if list, _ := h.want(200, "GET", "/v1/voices", "")["voices"].([]any); len(list) != speech.MaxOwnVoices+3 {
		t.Errorf("there are %d voices", len(list))
	}
}
