package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// get requests a link without a key.
func (h *house) get(method, link string, headers ...header) *httptest.ResponseRecorder {
	h.t.Helper()
	return h.send(method, link, http.NoBody, append([]header{{"Authorization", ""}}, headers...)...)
}

func TestLinkServesAudio(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, link := h.spoken(`{"text":"Good morning.","output_format":"pcm_8000"}`)
	whole := h.get("GET", link)
	file, tag, modified := whole.Body.String(), whole.Header().Get("ETag"), whole.Header().Get("Last-Modified")
	for name, want := range map[string]string{
		"Content-Type": "audio/wav", "Accept-Ranges": "bytes", "X-Content-Type-Options": "nosniff",
		"Content-Disposition": `inline; filename="` + id + `.wav"`,
	} {
		if got := whole.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	cache := whole.Header().Get("Cache-Control")
	age, err := time.ParseDuration(strings.TrimPrefix(cache, "private, max-age=") + "s")
	if err != nil || age > 24*time.Hour || age < 23*time.Hour {
		t.Errorf("Cache-Control: %q", cache)
	}
	if tag == "" || tag[0] != '"' || modified == "" {
		t.Errorf("ETag %q, Last-Modified %q", tag, modified)
	}
	for name, c := range map[string]struct {
		method  string
		headers []header
		status  int
		body    string
	}{
		"head":              {"HEAD", nil, 200, ""},
		"range":             {"GET", []header{{"Range", "bytes=4-7"}}, 206, file[4:8]},
		"last bytes":        {"GET", []header{{"Range", "bytes=-4"}}, 206, file[len(file)-4:]},
		"from on":           {"GET", []header{{"Range", "bytes=44-"}}, 206, file[44:]},
		"beyond":            {"GET", []header{{"Range", "bytes=99999999-"}}, 416, "invalid range: failed to overlap\n"},
		"no range":          {"GET", []header{{"Range", "seconds=1-2"}}, 416, "invalid range\n"},
		"same tag":          {"GET", []header{{"If-None-Match", `"x", ` + tag}}, 304, ""},
		"other tag":         {"GET", []header{{"If-None-Match", `"x"`}}, 200, file},
		"not modified":      {"GET", []header{{"If-Modified-Since", modified}}, 304, ""},
		"range, same tag":   {"GET", []header{{"Range", "bytes=0-3"}, {"If-Range", tag}}, 206, "RIFF"},
		"range, other tag":  {"GET", []header{{"Range", "bytes=0-3"}, {"If-Range", `"x"`}}, 200, file},
		"range of the head": {"HEAD", []header{{"Range", "bytes=0-3"}}, 206, ""},
	} {
		answer := h.get(c.method, link, c.headers...)
		if answer.Code != c.status || answer.Body.String() != c.body {
			t.Errorf("%s: %d with %d bytes, want %d with %d", name, answer.Code, answer.Body.Len(), c.status, len(c.body))
		}
	}
	byKey := h.do("GET", "/v1/speak/samples/"+id+"?format=audio", "")
	if byKey.Body.String() != file || byKey.Header().Get("Cache-Control") != "private, no-store" || byKey.Header().Get("ETag") != tag {
		t.Errorf("with a key: %d %v", byKey.Code, byKey.Header())
	}
	if several := h.get("GET", link, header{"Range", "bytes=0-3,8-11"}); !strings.HasPrefix(several.Header().Get("Content-Type"), "multipart/byteranges") {
		t.Errorf("several ranges: %d %v", several.Code, several.Header())
	}
	again, _ := h.spoken(`{"text":"Good morning.","output_format":"pcm_8000"}`)
	if other := h.do("GET", "/v1/speak/samples/"+again+"?format=audio", ""); again == id || other.Header().Get("ETag") != tag {
		t.Errorf("a repeated text has the tag %q, want %q", other.Header().Get("ETag"), tag)
	}
}

func TestLinksThatLeadNowhere(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, link := h.spoken(`{"text":"Good morning."}`)
	other, _ := h.spoken(`{"text":"Good evening."}`)
	_, stranger := h.tenant("stranger")
	set := func(name, value string) string {
		u := must(url.Parse(link))
		query := u.Query()
		query.Set(name, value)
		if value == "" {
			query.Del(name)
		}
		u.RawQuery = query.Encode()
		return u.String()
	}
	signature := must(url.Parse(link)).Query().Get("signature")
	theOther := []byte(signature)
	theOther[len(theOther)-2] ^= 1
	const changed = "this link was changed or has expired: get the sample again for a new one"
	for name, c := range map[string]struct {
		target, key string
		status      int
		message     string
	}{
		"as it is":                 {link, "", 200, ""},
		"as it is, with a bad key": {link, "cwk_unknown", 200, ""},
		"as it is, with any key":   {link, stranger, 200, ""},
		"other signature":          {set("signature", string(theOther)), "", 404, changed},
		"signature of nothing":     {set("signature", "x"), "", 404, changed},
		"signature, not base64":    {set("signature", "ü.ß"), "", 404, changed},
		"signature, longer":        {set("signature", strings.Repeat("x", 300)), "", 404, changed},
		"later":                    {set("expires", "99999999999"), "", 404, changed},
		"never":                    {set("expires", ""), "", 404, changed},
		"no time":                  {set("expires", "tomorrow"), "", 404, changed},
		"negative":                 {set("expires", "-1"), "", 404, changed},
		"other sample":             {strings.Replace(link, id, other, 1), "", 404, changed},
		"no sample":                {strings.Replace(link, id, "x", 1), "", 404, changed},
		"changed, with a key":      {set("signature", "x"), h.key, 404, changed},
		"no signature":             {set("signature", ""), "", 401, "Unauthorized"},
		"for JSON":                 {set("format", "json"), "", 401, "Unauthorized"},
		"no format":                {set("format", ""), "", 401, "Unauthorized"},
		"no format, with a key":    {set("format", ""), h.key, 200, ""},
		"bad id, no key":           {"/v1/speak/samples/" + strings.Repeat("x", 65), "", 401, "Unauthorized"},
		"foreign":                  {"/v1/speak/samples/" + id, stranger, 404, "sample not found"},
		"foreign audio":            {"/v1/speak/samples/" + id + "?format=audio", stranger, 404, "sample not found"},
		"more":                     {link + "&colour=red", "", 400, "colour: is not a known parameter"},
	} {
		answer := h.send("GET", c.target, http.NoBody, header{"Authorization", c.key})
		if answer.Code != c.status || c.message != "" && at(t, sent(t, answer, c.status), "errors", 0, "message") != c.message {
			t.Errorf("%s: got %d %.300s, want %d %s", name, answer.Code, answer.Body, c.status, c.message)
		}
	}
	h.links.by.Store(int64(24*time.Hour - time.Minute))
	if answer := h.get("GET", link); answer.Code != 200 || !strings.HasPrefix(answer.Header().Get("Cache-Control"), "private, max-age=") {
		t.Errorf("a minute before its end: %d %v", answer.Code, answer.Header())
	}
	h.links.by.Store(int64(24 * time.Hour))
	if answer := h.get("GET", link); answer.Code != 404 || at(t, sent(t, answer, 404), "errors", 0, "message") != changed {
		t.Errorf("expired: %d %s", answer.Code, answer.Body)
	}
	if fresh, _ := at(t, h.want(200, "GET", "/v1/speak/samples/"+id, ""), "data", "url").(string); h.get("GET", strings.TrimPrefix(fresh, publicURL)).Code != 200 {
		t.Error("the new link of an old sample does not work")
	}
	if log := h.log.String(); strings.Contains(log, signature) || strings.Contains(log, string(theOther)) || strings.Contains(log, "expires=") {
		t.Error("the log has a signature")
	}
}

// TestDeletedSample checks that a deleted sample is absent everywhere, that its link is invalid, and that other samples stay.
func TestDeletedSample(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, link := h.spoken(`{"text":"Good morning."}`)
	other, _ := h.spoken(`{"text":"Good evening."}`)
	_, stranger := h.tenant("stranger")
	path := "/v1/speak/samples/" + id
	for key, status := range map[string]int{stranger: 404, "": 401, "cwk_unknown": 401} {
		if answer := h.send("DELETE", path, http.NoBody, header{"Authorization", key}); answer.Code != status {
			t.Errorf("a deletion with the key %q: %d %s", key, answer.Code, answer.Body)
		}
	}
	if answer := h.send("DELETE", link, http.NoBody, header{"Authorization", ""}); answer.Code != 401 && answer.Code != 400 {
		t.Errorf("a deletion by the link: %d %s", answer.Code, answer.Body)
	}
	if answer := h.get("GET", link); answer.Code != 200 {
		t.Fatalf("the link: %d %s", answer.Code, answer.Body)
	}
	deleted := h.want(200, "DELETE", path, "")
	if at(t, deleted, "data", "status") != "success" || at(t, deleted, "errors") != nil {
		t.Errorf("the deletion is answered %v", deleted)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if gone := h.want(404, method, path, ""); at(t, gone, "errors", 0, "message") != "sample not found" {
			t.Errorf("%s of the deleted: %v", method, gone)
		}
	}
	if answer := h.get("GET", link); answer.Code != 404 {
		t.Errorf("its link: %d", answer.Code)
	}
	if list := h.want(200, "GET", "/v1/speak/samples", ""); list["total"] != 1.0 || at(t, list, "data", 0, "id") != other {
		t.Errorf("the list is %v", list)
	}
}

// TestAudioThatIsMissing checks for a clear error if a sample's audio is not stored. If the audio cannot be read, JSON answers must be
// errors, and the answer of a link must be incomplete.
func TestAudioThatIsMissing(t *testing.T) {
	t.Parallel()
	h := open(t)
	id, link := h.spoken(`{"text":"Good morning."}`)
	h.blobs.cut.Store(true)
	h.want(500, "GET", "/v1/speak/samples/"+id, "")
	server := httptest.NewServer(h.unchecked)
	defer server.Close()
	answer := must(http.Get(server.URL + link)) //nolint:noctx,bodyclose // the server is this test's; it is closed below
	defer func() { _ = answer.Body.Close() }()
	if n, err := io.Copy(io.Discard, answer.Body); err == nil || !strings.Contains(h.log.String(), "the disk fails") {
		t.Errorf("%d bytes of audio that cannot be read, %v: %s", n, err, h.log)
	}
	h.blobs.lost.Store(true)
	h.want(503, "GET", "/v1/speak/samples/"+id, "")
	if answer := h.get("GET", link); answer.Code != 503 || !strings.Contains(answer.Body.String(), "tell its operator") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}
