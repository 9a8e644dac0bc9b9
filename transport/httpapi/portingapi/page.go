package portingapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // for the page and its style
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/portingoas"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string

	pageTemplate = template.Must(template.New("page").Parse(pageText))

	// pagePolicy allows a page only its own style and its forms. It allows no script and no image.
	pagePolicy = "default-src 'none'; style-src 'sha256-" + hashOf(pageStyle) + "'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

// pdfPolicy sandboxes a PDF, in case a browser shows it in spite of the attachment header.
const pdfPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// yes is the value of a checked box.
const yes = "yes"

// page holds the data of a page for signers. Its texts are untrusted, and the template escapes them.
type page struct {
	Title   string
	Notes   []string // describe the state, in place of the form
	View    *loa.View
	PDF     string // address of the PDF, or empty without one
	PDFName string
	SignBy  string
	Form    bool // show the form, because the letter waits for its signature
	Typed   *oas.LetterSignature
	Faults  []fault

	status int
}

// fault is an error in the form that the signer must correct.
type fault struct {
	Field string // id of the input, or empty for the whole form
	Label string
	Text  string
}

// Style returns the style sheet, which all pages share.
func (page) Style() template.CSS { return template.CSS(pageStyle) } //nolint:gosec // it is a constant

// Fault returns the errors of an input, separated by semicolons. It is empty if there are none.
func (p page) Fault(field string) string {
	var texts []string
	for _, f := range p.Faults {
		if f.Field == field {
			texts = append(texts, f.Text)
		}
	}
	return strings.Join(texts, "; ")
}

// letterPage returns the page that shows a letter in its current state.
func letterPage(v loa.View, token string) page {
	p := page{View: &v, PDF: token + "/letter.pdf", PDFName: "Download the letter (PDF)", Typed: new(oas.LetterSignature), status: http.StatusOK}
	switch {
	case v.Expired:
		p.Title, p.status = "The time to sign is over", http.StatusGone
		p.Notes = []string{"This letter could be signed until " + dated(v.Letter.SignBy) + ". Nothing was signed, and the numbers stay where they are."}
	case v.Letter.State == loa.Signed:
		p.Title, p.PDFName = "The letter is signed", "Download the signed letter (PDF)"
		p.Notes = []string{
			"Thank you. The letter was signed on " + dated(v.Letter.EndedAt) + ", and the port of the numbers goes on. There is nothing more to do here.",
			"Keep a copy of the signed letter.",
		}
	case v.Letter.State == loa.Declined:
		p.Title, p.status = "The letter was declined", http.StatusGone
		p.Notes = []string{"Nothing was signed, the port is canceled, and the numbers stay where they are."}
	case v.Letter.State == loa.Revoked:
		p.Title, p.status = "The letter is not needed any more", http.StatusGone
		p.Notes = []string{"The port was canceled, or the letter was signed on paper. There is nothing to do here."}
	default:
		p.Title, p.Form, p.SignBy = "Sign the letter of authorization", true, dated(v.Letter.SignBy)
		p.Typed.LetterSHA256 = oas.NewOptString(v.Letter.SHA256)
	}
	return p
}

func dated(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 MST") }

// labels maps the inputs of the form to their labels on the page.
var labels = map[string]string{
	"signer_name": "Your full name", "signer_title": "Your title", "consent": "Electronic signature", "authority": "Your authority",
	"reason": "Reason",
}

// with returns the page to show after a refused decision: the form with the signer's input and its faults. If the letter or its port
// request has ended meanwhile, the result is a page that says so, without the form.
func (p page) with(typed *oas.LetterSignature, err error) page {
	if !p.Form {
		if typed.Decision == oas.LetterSignatureDecisionDecline && p.View.Letter.State == loa.Signed {
			p.Notes = append([]string{"The letter was signed before it was declined, and a signature that was given stays valid."}, p.Notes...)
		}
		return p
	}
	if errors.Is(err, callwright.ErrInvalidState) { // the port request has ended, but its letter has not yet
		p.Title, p.Form, p.status = "The letter is not needed any more", false, http.StatusGone
		p.Notes = []string{sentence(callwright.MessageOf(err))}
		return p
	}
	again := *typed
	again.LetterSHA256 = p.Typed.LetterSHA256
	p.Title, p.Typed, p.status, p.Faults = "Error: "+p.Title, &again, http.StatusBadRequest, faultsOf(err)
	return p
}

// faultsOf converts an error to the faults of the form, each with its input.
func faultsOf(err error) (all []fault) {
	var several callwright.FieldErrors
	var one *callwright.Error
	if !errors.As(err, &several) && errors.As(err, &one) {
		several = callwright.FieldErrors{one}
	}
	for _, e := range several {
		label, known := labels[e.Field]
		switch {
		case known:
			all = append(all, fault{e.Field, label, e.Message})
		case e.Field == "letter_sha256":
			all = append(all, fault{"", "The letter", "has changed since this page was made: read it again, and sign it below"})
		default:
			all = append(all, fault{"", "The form", e.Message})
		}
	}
	return all
}

// sentence capitalizes the message of an error and adds a period.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// failurePage returns the page for a request that failed with an HTTP status, without a letter.
func failurePage(status int) page {
	p := page{Title: "Something went wrong", Notes: []string{"Nothing was signed. Please try again in a while."}, status: status}
	switch status {
	case http.StatusNotFound:
		p.Title = "This link leads to no letter"
		p.Notes = []string{
			"The link may not be complete, or a newer mail has another one: only the link of the newest mail works.",
			"If you have no newer mail, ask whoever requested the port to send the letter again.",
		}
	case http.StatusRequestEntityTooLarge:
		p.Title, p.Notes = "The form is too large", []string{"Nothing was signed. Go back and write less."}
	case http.StatusBadRequest, http.StatusUnsupportedMediaType:
		p.Title, p.Notes = "The form cannot be read", []string{"Nothing was signed. Open the link of the mail again, and use the form of the page."}
	case http.StatusServiceUnavailable:
		p.Title = "The letter cannot be shown now"
	}
	return p
}

// send renders a page and writes it with its status.
func send(ctx context.Context, w http.ResponseWriter, p page) {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		httpapi.LogFailure(ctx, err)
		http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(p.status)
	_, _ = w.Write(b.Bytes()) // fails only if the client has disconnected
}
