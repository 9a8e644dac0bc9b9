package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/url"
)

// listen requests speech, and opens the link to its audio and changed links. The signature of the link counts as a secret.
func (p *prober) listen() {
	p.t.Helper()
	speak := func() {
		header := http.Header{"Idempotency-Key": {"speech"}}
		if status := p.do(http.MethodPost, "/v1/speak", `{"text":"Good morning.","output_format":"pcm_8000"}`, header); status != http.StatusOK {
			p.t.Errorf("speech is answered with %d", status)
		}
	}
	speak()
	id, link := p.sample()
	signature := link.Query().Get("signature")
	if signature == "" {
		p.t.Fatalf("the link to the audio is %s", link)
	}
	p.own[signature] = "the signature of a link"
	for name, status := range map[string]int{signature: http.StatusOK, p.plant(secretMark, "a changed link"): http.StatusNotFound} {
		query := link.Query()
		query.Set("signature", name)
		for _, header := range []http.Header{nil, {"Range": {"bytes=0-3"}}, {"Range": {"bytes=99999999-"}}} {
			got := p.do(http.MethodGet, "/v1/speak/samples/"+id+"?"+query.Encode(), "", header)
			if (got == http.StatusNotFound) != (status == http.StatusNotFound) {
				p.t.Errorf("a link is answered with %d, want %d", got, status)
			}
		}
		query.Set("colour", name)
		p.do(http.MethodGet, "/v1/speak/samples/"+id+"?"+query.Encode(), "", nil)
	}
	p.taken["getSpeechSample signature"] = true
	speak() // returns the stored answer
}

// sample returns the id of the newest sample, and the link to its audio.
func (p *prober) sample() (id string, link *url.URL) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.s.URL+"/v1/speak/samples", http.NoBody)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.s.Key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var list struct {
		Data []struct {
			ID  string `json:"id"`
			URL string `json:"url"`
		} `json:"data"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil || len(list.Data) == 0 {
		p.t.Fatalf("there are no samples: %d, %v", answer.StatusCode, err)
	}
	link, err = url.Parse(list.Data[0].URL)
	if err != nil {
		p.t.Fatal(err)
	}
	return list.Data[0].ID, link
}
