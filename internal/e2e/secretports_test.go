package e2e_test

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/transport/oas/portingoas"
)

var (
	// signatureURL matches the token of a letter in an answer.
	signatureURL = regexp.MustCompile(`"signature_url":"[^"]*/loa/([^"/]+)"`)
	documentSID  = regexp.MustCompile(`"document_sid":"([^"]+)"`)
)

// notePorts stores values of an answer for later exercises. From then on, the token of a letter counts as a secret.
func (p *prober) notePorts(op string, text []byte) {
	for _, made := range signatureURL.FindAllSubmatch(text, -1) {
		token := string(made[1])
		p.own[token] = "the link to a letter"
		if !slices.Contains(p.seen["token"], token) {
			p.seen["token"] = append(p.seen["token"], token)
		}
	}
	for _, made := range documentSID.FindAllSubmatch(text, -1) {
		p.seen["document_sid"] = append(p.seen["document_sid"], string(made[1]))
	}
	if hash := shownHash.Find(text); op == "showLetter" && hash != nil {
		p.seen["letter_sha256"] = append(p.seen["letter_sha256"], string(hash))
	}
}

// withoutToken removes the token of a signing page from the answer to a request with this token, because the page links to its PDF.
func withoutToken(target string, text []byte) []byte {
	path, ok := strings.CutPrefix(target, "/loa/")
	token, _, _ := strings.Cut(path, "/")
	if !ok || token == "" {
		return text
	}
	return bytes.ReplaceAll(text, []byte(token), nil)
}

// uploadBill uploads a bill whose name and content must be encrypted at rest.
func (p *prober) uploadBill() {
	p.t.Helper()
	body := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + p.plant(sealedMark, "the name of a bill") + ".pdf\"\r\n\r\n" +
		bill + p.plant(sealedMark, "a bill") + "\r\n--b--\r\n"
	header := http.Header{"Content-Type": {"multipart/form-data; boundary=b"}}
	if status := p.do(http.MethodPost, "/v1/sip/port/document", body, header); status != http.StatusCreated {
		p.t.Fatalf("the bill is answered with %d", status)
	}
}

// openUnknownLetters opens letters with unknown tokens, and sends invalid answers to real letters.
func (p *prober) openUnknownLetters() {
	p.t.Helper()
	if len(p.seen["token"]) < 4 {
		p.t.Fatalf("there were only %d links to letters", len(p.seen["token"]))
	}
	unknown := "/loa/" + p.plant(secretMark, "an unknown token")
	for _, path := range []string{unknown, unknown + "/letter.pdf", unknown + "?token=" + p.plant(secretMark, "a query of a letter")} {
		if status := p.do(http.MethodGet, path, "", nil); status != http.StatusNotFound {
			p.t.Errorf("an unknown letter is answered with %d", status)
		}
	}
	for _, token := range append([]string{strings.TrimPrefix(unknown, "/loa/")}, p.seen["token"]...) {
		for _, body := range []string{"decision=sign&signer_name=Robyn", "decision=" + p.open("a decision", "‡"), "%zz", "{}"} {
			if status := p.do(http.MethodPost, "/loa/"+token, body, nil); status == http.StatusNoContent {
				p.t.Errorf("%s is taken", body)
			}
		}
	}
}

// awaitPort waits until the signed request is completed, so that the carrier has received all data.
func (p *prober) awaitPort() {
	p.t.Helper()
	requests := p.seen["port_request_id"]
	signed := requests[len(requests)-1]
	await.That(p.t, "the port to complete", func() bool {
		hint(p.t, p.s, signed)
		return port(p.t, p.s, signed).Status == portingoas.PortStatusCompleted
	})
}

// showsLetter reports whether a refusal is the signing page, which may show the letter to holders of its link.
func showsLetter(op string, status int) bool {
	return (op == "showLetter" || op == "signLetter") && (status == http.StatusBadRequest || status == http.StatusGone)
}
