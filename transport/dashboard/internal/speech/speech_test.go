package speech_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/audiofile"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/speechstore"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/speechtest"
	"github.com/callwright/callwright/speech/tts"
	"github.com/callwright/callwright/transport/dashboard"
)

// signedIn is an Authenticator that accepts every request for the organization in the header Org, or for acme without the header.
type signedIn struct{}

func (signedIn) Authenticate(r *http.Request) (callwright.Principal, error) {
	org := callwright.OrgID("acme")
	if other := r.Header.Get("Org"); other != "" {
		org = callwright.OrgID(other)
	}
	return callwright.Principal{Org: org, KeyID: "key-1", KeyName: "desk"}, nil
}

type house struct {
	t      *testing.T
	speech *speech.Service
	engine speechtest.Engine
	cloner speechtest.Cloner
	url    string
	client *http.Client
}

func newHouse(t *testing.T, change ...func(*speech.Config)) *house {
	t.Helper()
	h := &house{t: t}
	store := memstore.New()
	c := speech.Config{
		Engine: &h.engine, Cloner: &h.cloner, Decoder: audiofile.Decoder{}, Voices: speechstore.Voices{Store: store},
		Samples: speechstore.Samples{Store: store}, Blobs: new(speechstore.Blobs), Atomic: store, Work: memstore.NewWork(store, nil),
		Key: callwright.Secret(strings.Repeat("k", 32)),
	}
	for _, f := range change {
		f(&c)
	}
	var err error
	if h.speech, err = speech.New(c); err != nil {
		t.Fatal(err)
	}
	d, err := dashboard.New(dashboard.Config{Authenticator: signedIn{}, Speech: h.speech})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	jar, _ := cookiejar.New(nil) // never fails without options
	h.url, h.client = server.URL, &http.Client{Transport: new(http.Transport), Jar: jar}
	return h
}

// do makes a request. It returns the status and body of the final answer, and the path to which redirects led. headers alternates names and
// values.
func (h *house) do(method, path, contentType string, body []byte, headers ...string) (status int, text, at string) {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := h.client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(answer.Body); err != nil {
		h.t.Fatal(err)
	}
	return answer.StatusCode, b.String(), answer.Request.URL.Path
}

func (h *house) get(path string, headers ...string) (int, string) {
	h.t.Helper()
	status, text, _ := h.do(http.MethodGet, path, "", nil, headers...)
	return status, text
}

var tokenPattern = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

func (h *house) token() string {
	h.t.Helper()
	_, text := h.get("/speech")
	found := tokenPattern.FindStringSubmatch(text)
	if found == nil {
		h.t.Fatalf("the page has no token:\n%s", text)
	}
	return found[1]
}

func (h *house) post(path string, form url.Values) (int, string, string) {
	h.t.Helper()
	form.Set("csrf", h.token())
	return h.do(http.MethodPost, path, "application/x-www-form-urlencoded", []byte(form.Encode()))
}

// upload sends the form of a new voice with recordings.
func (h *house) upload(name string, recordings ...[]byte) (int, string, string) {
	h.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for field, value := range map[string]string{"csrf": h.token(), "name": name, "gender": "female"} {
		if err := w.WriteField(field, value); err != nil {
			h.t.Fatal(err)
		}
	}
	for _, audio := range recordings {
		part, err := w.CreateFormFile("audio_samples", `<script>.wav`)
		if err == nil {
			_, err = part.Write(audio)
		}
		if err != nil {
			h.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		h.t.Fatal(err)
	}
	return h.do(http.MethodPost, "/speech/voices", w.FormDataContentType(), b.Bytes())
}

func recording(t *testing.T) []byte {
	t.Helper()
	audio := pcm.Audio{Rate: 8000, Channels: 1, Samples: make([]int16, 24000)}
	for i := range audio.Samples {
		audio.Samples[i] = int16(i % 40 * 200)
	}
	var b bytes.Buffer
	if err := pcm.WriteWAV(&b, audio); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// wants checks that an answer has the expected status, and that its text contains the given parts and no unescaped script element.
func wants(t *testing.T, what string, status, want int, text string, in ...string) {
	t.Helper()
	if status != want {
		t.Errorf("%s: got %d, want %d\n%s", what, status, want, text)
	}
	for _, part := range in {
		if !strings.Contains(text, part) {
			t.Errorf("%s has no %q:\n%s", what, part, text)
		}
	}
	if strings.Contains(text, "<script>") {
		t.Errorf("%s has a script:\n%s", what, text)
	}
}

func TestSpeak(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	status, text := h.get("/speech/samples")
	wants(t, "the empty list", status, 200, text, "There are no samples", `href="/speech"`)
	status, text = h.get("/speech?voice=ben")
	wants(t, "the form", status, 200, text, `<option value="ben" selected>ben (en-US)`, `<option value="de-DE">`, "<option selected>pcm_44100")
	status, text, at := h.post("/speech/samples", url.Values{"text": {"Hello <script>"}, "voice": {"ada"}, "output_format": {"pcm_8000"}})
	wants(t, "the sample", status, 200, text, "Hello &lt;script&gt;", `<audio controls`, `src="`+at+`/audio"`, `href="/speech/voices/ada"`, "pcm_8000", "key-1")
	status, text = h.get("/speech/samples?voice=ada")
	wants(t, "the list", status, 200, text, "1 to 1 of 1", `href="`+at+`"`, "Hello &lt;script&gt;")
	if status, text = h.get("/speech/samples?voice=ben"); status != 200 || !strings.Contains(text, "no samples of this voice") {
		t.Errorf("another voice has %d\n%s", status, text)
	}

	status, text = h.get(at + "/audio")
	if status != 200 || !strings.HasPrefix(text, "RIFF") {
		t.Errorf("the audio is %d %.20q", status, text)
	}
	if status, text = h.get(at+"/audio", "Range", "bytes=0-3"); status != http.StatusPartialContent || text != "RIFF" {
		t.Errorf("a range is %d %.20q", status, text)
	}
	for _, path := range []string{at, at + "/audio", "/speech/samples/none", "/speech/voices/none"} {
		if status, _ := h.get(path, "Org", "other"); status != 404 {
			t.Errorf("%s of another organization is %d", path, status)
		}
	}
	for _, path := range []string{"/speech/samples?offset=x", "/speech/samples?offset=-1"} {
		if status, _ := h.get(path); status != 400 {
			t.Errorf("%s is %d", path, status)
		}
	}
}

// TestDeleteSample checks that the owner can delete a sample from its page, which asks for confirmation, and that another organization
// cannot.
func TestDeleteSample(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	status, text, at := h.post("/speech/samples", url.Values{"text": {"Hello"}, "voice": {"ada"}, "output_format": {"pcm_8000"}})
	wants(t, "the sample", status, 200, text, `action="`+at+`/delete" data-ask="Delete the sample for good?"`)
	if status, _, _ := h.do(http.MethodPost, at+"/delete", "application/x-www-form-urlencoded", []byte(url.Values{"csrf": {h.token()}}.Encode()), "Org", "other"); status != 404 {
		t.Errorf("another organization deletes it with %d", status)
	}
	if status, _ := h.get(at); status != 200 {
		t.Errorf("it is %d", status)
	}
	status, text, to := h.post(at+"/delete", url.Values{})
	wants(t, "after the end", status, 200, text, "The sample is deleted", "There are no samples")
	if to != "/speech/samples" {
		t.Errorf("the deletion leads to %s", to)
	}
	for _, path := range []string{at, at + "/audio"} {
		if status, _ := h.get(path); status != 404 {
			t.Errorf("%s is %d", path, status)
		}
	}
	if status, _, _ := h.post(at+"/delete", url.Values{}); status != 404 {
		t.Errorf("it is deleted again with %d", status)
	}
}

// TestKeyNames checks that pages show the name of the key that requested a sample or a voice, and the id of an unknown key.
func TestKeyNames(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	store := memstore.New()
	keys, err := access.New(access.Config{Store: orgstore.Tenants{Store: store}, Atomic: store, Secret: callwright.Secret(strings.Repeat("s", 32))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keys.CreateOrganization(t.Context(), "acme", "Acme"); err != nil {
		t.Fatal(err)
	}
	key, err := keys.CreateKey(t.Context(), "acme", "desk <b>", 0)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dashboard.New(dashboard.Config{Authenticator: signedIn{}, Speech: h.speech, Access: keys})
	if err != nil {
		t.Fatal(err)
	}
	for id, name := range map[string]string{key.Record.ID: "desk &lt;b&gt;", "key-9": "<code>key-9</code>"} {
		sample, err := h.speech.Speak(t.Context(), "acme", speech.Request{Text: "Hello", Voice: "ada", Format: speech.PCM44100, User: id})
		if err != nil {
			t.Fatal(err)
		}
		voice, err := h.speech.Clone(t.Context(), "acme", speech.CloneRequest{
			Name: "By " + id[:5], Files: []io.ReadSeeker{bytes.NewReader(recording(t))}, User: id,
		})
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{
			"/speech/samples/" + sample.ID: "<dt>By the key</dt><dd>" + name + "</dd>", "/speech/voices/" + voice.ID: "by the key " + name + "</dd>",
		} {
			answer := httptest.NewRecorder()
			d.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			wants(t, path, answer.Code, 200, answer.Body.String(), want)
		}
	}
}

func TestSpeakPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range 51 {
		if _, err := h.speech.Speak(t.Context(), "acme", speech.Request{Text: "Hello", Format: speech.PCM8000}); err != nil {
			t.Fatal(err)
		}
	}
	status, text := h.get("/speech/samples")
	wants(t, "the first page", status, 200, text, "1 to 50 of 51", `href="?offset=50"`)
	status, text = h.get("/speech/samples?offset=50")
	wants(t, "the second page", status, 200, text, "51 to 51 of 51", `href="?offset=0"`)
	status, text = h.get("/speech/samples?offset=100")
	wants(t, "a page after the end", status, 200, text, "ends before this page")
}

// countless reports more samples than the pages can list.
type countless struct{ speech.Samples }

func (s countless) ListSamples(ctx context.Context, org callwright.OrgID, voice string, _, _ int) ([]speech.Sample, int, error) {
	list, _, err := s.Samples.ListSamples(ctx, org, voice, 50, 0)
	return list, 2_000_000, err
}

// TestLastPage checks that the last page has no link to a next page, and states how to see older samples.
func TestLastPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *speech.Config) { c.Samples = countless{c.Samples} })
	for range 50 {
		if _, err := h.speech.Speak(t.Context(), "acme", speech.Request{Text: "Hello", Format: speech.PCM8000}); err != nil {
			t.Fatal(err)
		}
	}
	const says = "Pages lead to the newest 1\u202f000\u202f050 samples. Choose a voice to see older ones."
	status, text := h.get("/speech/samples?offset=1000000")
	wants(t, "the last page", status, 200, text, says, `href="?offset=999950"`)
	if strings.Contains(text, `rel="next"`) {
		t.Errorf("the last page leads on:\n%s", text)
	}
	if status, text = h.get("/speech/samples?offset=999950"); status != 200 || strings.Contains(text, "Pages lead") || !strings.Contains(text, `href="?offset=1000000"`) {
		t.Errorf("the page before is %d\n%s", status, text)
	}
}

// TestVoicePages checks the pages of a list of voices that exceeds one page.
func TestVoicePages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i := range 60 {
		_, err := h.speech.Clone(t.Context(), "acme", speech.CloneRequest{Name: fmt.Sprint("Robin ", i), Files: []io.ReadSeeker{bytes.NewReader(recording(t))}})
		if err != nil {
			t.Fatal(err)
		}
	}
	rows := func(text string) int { return strings.Count(text, `<th scope="row">`) }
	status, text := h.get("/speech/voices")
	wants(t, "the first page", status, 200, text, "1 to 50 of 6", "own voices first", `<a href="?offset=50" rel="next">`)
	if rows(text) != 50 || strings.Contains(text, `rel="prev"`) {
		t.Errorf("the first page has %d voices:\n%s", rows(text), text)
	}
	status, text = h.get("/speech/voices?offset=50")
	wants(t, "the second page", status, 200, text, "51 to 6", ">ada</a>", `<a href="?offset=0" rel="prev">`)
	if rows(text) > 20 || strings.Contains(text, `rel="next"`) {
		t.Errorf("the second page has %d voices:\n%s", rows(text), text)
	}
	status, text = h.get("/speech/voices?offset=100")
	wants(t, "a page after the end", status, 200, text, "ends before this page")
	for _, offset := range []string{"x", "-1", "9223372036854775807"} {
		if status, _ := h.get("/speech/voices?offset=" + offset); status != 400 {
			t.Errorf("the offset %s is %d", offset, status)
		}
	}
}

func TestSpeakFaults(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for field, form := range map[string]url.Values{
		"text":          {"text": {" "}, "language": {"en-US"}},
		"voice":         {"text": {"Hi"}, "voice": {"<script>"}, "language": {"en-US"}},
		"language":      {"text": {"Hi"}, "voice": {"ada"}, "language": {"zz"}},
		"output_format": {"text": {"Hi"}, "output_format": {"mp3"}},
	} {
		status, text, _ := h.post("/speech/samples", form)
		wants(t, "a wrong "+field, status, 422, text, `id="fault-`+field+`"`, `aria-describedby="fault-`+field+`"`)
		if language := form.Get("language"); language != "" {
			wants(t, "a wrong "+field, status, 422, text, `value="`+language+`"`)
		}
	}
	h.engine.OnRequest = func(tts.Request) error {
		return &callwright.Error{Code: callwright.CodeTooManyRequests, Message: "all are busy", RetryAfter: 2 * time.Second}
	}
	status, text, _ := h.post("/speech/samples", url.Values{"text": {"Hello"}})
	wants(t, "a busy engine", status, 422, text, "all are busy. Try again in 2.0 s", ">Hello</textarea>")
	h.engine.OnRequest = func(tts.Request) error { return callwright.Invalid("rate", "is <script>") }
	status, text, _ = h.post("/speech/samples", url.Values{"text": {"Hello"}})
	wants(t, "a fault of another field", status, 422, text, `role="alert">rate: is &lt;script&gt;`, ">Hello</textarea>")
}

func TestVoices(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	status, text := h.get("/speech/voices")
	wants(t, "the list", status, 200, text, "ada", "of the engine", "It does not sound like the person")
	status, text = h.get("/speech/voices/ada")
	wants(t, "the engine's", status, 200, text, "Female, American English")
	if strings.Contains(text, "Rename") {
		t.Error("a voice of the engine can be renamed")
	}
	if status, _, _ := h.post("/speech/voices/ada/delete", url.Values{}); status != 403 {
		t.Errorf("the engine's is deleted with %d", status)
	}

	status, text = h.get("/speech/clone")
	wants(t, "the form", status, 200, text, "<strong>profiles</strong>, not clones", `enctype="multipart/form-data"`)
	status, text, at := h.upload("Robin <b>", recording(t), recording(t))
	wants(t, "the new voice", status, 200, text, "Robin &lt;b&gt;", "The voice is made", "profile", "data-ask=")
	status, text, _ = h.post(at+"/name", url.Values{"name": {"a/b"}})
	wants(t, "a wrong name", status, 422, text, `id="fault-name"`, `value="a/b"`)
	status, text, _ = h.post(at+"/name", url.Values{"name": {"Robin"}})
	wants(t, "the renamed", status, 200, text, "<h1>Robin</h1>", "now called Robin")
	if status, _ := h.get(at, "Org", "other"); status != 404 {
		t.Errorf("a foreign voice is %d", status)
	}
	for name, c := range map[string]struct {
		name       string
		recordings [][]byte
		field      string
	}{
		"a name twice": {"robin", [][]byte{recording(t)}, "name"},
		"no files":     {"Kim", nil, "audio_samples"},
		"no audio":     {"Kim", [][]byte{recording(t), []byte("text")}, "audio_samples"},
	} {
		status, text, _ = h.upload(c.name, c.recordings...)
		wants(t, name, status, 422, text, `id="fault-`+c.field+`"`, `value="`+c.name+`"`, `value="female"`)
	}
	if status, text, _ = h.upload("Kim", make([]byte, 12<<20)); status != 413 {
		t.Errorf("a large file gives %d\n%s", status, text)
	}
	status, text, at = h.post(at+"/delete", url.Values{})
	wants(t, "after the end", status, 200, text, "The voice is deleted")
	if at != "/speech/voices" || strings.Contains(text, "Robin") {
		t.Errorf("it leads to %s\n%s", at, text)
	}
	for fault, fails := range map[string]*callwright.Error{
		`role="alert">all are busy. Try again in 2.0 s`: {Code: callwright.CodeTooManyRequests, Message: "all are busy", RetryAfter: 2 * time.Second},
		`id="fault-audio_samples">gave no voice`:        {Code: callwright.CodeUnavailable, Field: "audio_samples", Message: "gave no voice"},
		`role="alert">service: is another`:              {Code: callwright.CodeBadRequest, Field: "service", Message: "is another"},
	} {
		h.cloner.Fails = fails
		status, text, _ = h.upload("Kim", recording(t))
		wants(t, fault, status, 422, text, fault, `value="Kim"`, `value="female"`)
	}
	h.cloner.Fails = errors.New("broken")
	if status, _, _ = h.upload("Kim", recording(t)); status != 500 {
		t.Errorf("a broken cloner gives %d", status)
	}
}

func TestNoCloner(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *speech.Config) { c.Cloner = nil })
	status, text := h.get("/speech/clone")
	wants(t, "the page", status, 200, text, "cannot make voices")
	if status, _, _ := h.upload("Kim", recording(t)); status != 503 {
		t.Errorf("the form gives %d", status)
	}
}
