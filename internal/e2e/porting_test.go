package e2e_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	ht "github.com/ogen-go/ogen/http"

	"github.com/callwright/callwright/adapters/portgateway"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/browser"
	"github.com/callwright/callwright/internal/e2e/baresip"
	"github.com/callwright/callwright/internal/e2e/mailbox"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/transport/oas/agentsoas"
	"github.com/callwright/callwright/transport/oas/callsoas"
	"github.com/callwright/callwright/transport/oas/portingoas"
)

const (
	signerMail    = "robin@example.com"
	officeMail    = "office@example.com"
	carrierSecret = "of the simulated carrier"
)

// bill is the beginning of a PDF. Neither the server nor the test reads further.
const bill = "%PDF-1.4\n%a bill of the losing carrier\n"

// portingFlags returns flags for a server that ports numbers within seconds and sends its mail to a box.
func portingFlags(box *mailbox.Box) []string {
	return []string{
		"--smtp-url", box.URL, "--mail-from", "ports@callwright.example", "--simulated-carrier", "1s,2s,3s",
		"--simulated-carrier-secret", carrierSecret,
	}
}

// portOf returns the request for a port of numbers with an uploaded bill.
func portOf(document string, numbers ...string) *portingoas.PortRequestCreate {
	return &portingoas.PortRequestCreate{
		PhoneNumbers: numbers, Documents: []string{document},
		LosingCarrierInformation: portingoas.LosingCarrierInformation{
			CustomerType: portingoas.LosingCarrierInformationCustomerTypePersonal, FirstName: "Robin", LastName: "Doe", AccountNumber: "88231",
			Pin: portingoas.NewOptString("4711"), AuthorizedRepresentativeEmail: signerMail, NotificationEmails: []string{officeMail},
			Address: portingoas.PortAddress{Street: "1 Main Street", City: "Oakland", State: "CA", Zip: "94607", Country: "US"},
		},
	}
}

// uploadBill uploads a bill and returns its id.
func uploadBill(t *testing.T, s *server.Server) string {
	t.Helper()
	sid, err := s.API.UploadPortDocument(t.Context(), &portingoas.PortDocumentUploadMultipart{File: ht.MultipartFile{Name: "bill.pdf", File: strings.NewReader(bill)}})
	if err != nil {
		t.Fatal(err)
	}
	return sid.Data.DocumentSid
}

// port returns the port request with the given id, as the API shows it.
func port(t *testing.T, s *server.Server, id string) portingoas.PortRequest {
	t.Helper()
	got, err := s.API.GetPortRequest(t.Context(), portingoas.GetPortRequestParams{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return got.Data.PortRequest
}

// hint sends an event of the simulated carrier about a port request, which makes the server look at the order.
func hint(t *testing.T, s *server.Server, id string) {
	t.Helper()
	carrier, err := portgateway.NewSimulated(portgateway.SimulatedConfig{Secret: carrierSecret})
	if err != nil {
		t.Fatal(err)
	}
	order := porting.Order{Key: id + ":1"}
	receipt, err := carrier.Submit(t.Context(), porting.Submission{Order: order}) // only computes the carrier's id of the order
	if err != nil {
		t.Fatal(err)
	}
	order.Ref = receipt.Ref
	header, body := carrier.Event(order, 1)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/internal/gateways/simulated/webhook", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusAccepted {
		t.Fatalf("the event is answered with %d %s", res.StatusCode, text)
	}
}

// TestPortedNumberTakesACall ports a number: it checks the portability, signs the letter in a browser, and finally places a real call to
// the number.
func TestPortedNumberTakesACall(t *testing.T) {
	t.Parallel()
	ca, box := authority(t), mailbox.Start(t)
	phone := baresip.Start(t, baresip.Config{CA: ca})
	s := start(t, ca.CertFile(), append(portingFlags(box), "--ported-calls-from", "127.0.0.1")...)
	number := ours.String()
	checked, err := s.API.CheckPortability(t.Context(), portingoas.CheckPortabilityParams{PhoneNumbers: []string{number}})
	if err != nil || len(checked.Data.Results) != 1 || !checked.Data.Results[0].Portable {
		t.Fatalf("the check says %+v, %v", checked, err)
	}
	begun, err := s.API.InitiatePort(t.Context(), portOf(uploadBill(t, s), number), portingoas.InitiatePortParams{})
	if err != nil {
		t.Fatal(err)
	}
	id, link := begun.Data.PortRequestID, begun.Data.SignatureURL.Value
	if _, err := s.API.InitiatePort(t.Context(), portOf(uploadBill(t, s), number), portingoas.InitiatePortParams{}); err == nil {
		t.Error("the number is ported twice")
	}
	if letter := box.Await(t, signerMail, "sign or decline"); !strings.Contains(letter.Text, link) {
		t.Errorf("the link %s is not in the mail %q", link, letter.Text)
	}

	signInBrowser(t, link, number)
	checkSignedPDF(t, s, id, number)

	seen := []portingoas.PortStatus{}
	await.That(t, "the port to complete", func() bool {
		hint(t, s, id)
		got := port(t, s, id)
		if len(seen) == 0 || seen[len(seen)-1] != got.Status {
			seen = append(seen, got.Status)
		}
		return got.Status == portingoas.PortStatusCompleted && got.PhoneNumbers[0].Inbound.Value == "registered"
	})
	for _, subject := range []string{"submitted", "in progress", "completed"} {
		box.Await(t, signerMail, subject)
		box.Await(t, officeMail, subject)
	}
	done := port(t, s, id)
	var moves []string
	for _, e := range done.History {
		if len(moves) == 0 || moves[len(moves)-1] != e.To {
			moves = append(moves, e.To)
		}
	}
	if !slices.Equal(moves, []string{"waiting_for_signature", "submitted", "in_progress", "completed"}) {
		t.Errorf("the history is %v; seen were %v", moves, seen)
	}

	callPorted(t, s, phone, number)
}

// callPorted gives a ported number an agent, and calls the number. The agent must answer: the port has attached the number's trunk.
func callPorted(t *testing.T, s *server.Server, phone *baresip.Phone, number string) {
	t.Helper()
	const greeting = "Acme Bakery. How can I help you?"
	if _, err := s.API.GetInboundNumber(t.Context(), agentsoas.GetInboundNumberParams{PhoneNumber: number}); err != nil {
		t.Fatalf("the ported number: %v", err)
	}
	report, err := s.API.UpdateInboundNumber(t.Context(), &agentsoas.InboundNumberUpdate{
		Prompt: agentsoas.NewOptNilString("You answer for Acme Bakery."), FirstSentence: agentsoas.NewOptNilString(greeting),
		Voice: agentsoas.NewOptNilString(agentVoice),
	}, agentsoas.UpdateInboundNumberParams{PhoneNumber: number})
	if err != nil || len(report.FailedUpdates) > 0 {
		t.Fatalf("the number's agent: %+v, %v", report, err)
	}
	phone.Dial(t, s.Number(number))
	phone.Await(t, "CALL_ESTABLISHED", 1)
	call := s.Calls(t)[0].CallID
	says(t, s, call, greeting)
	phone.Hangup(t)
	if record := s.Ended(t, call); record.Status != callsoas.CallStatusCompleted || record.To != number {
		t.Errorf("the record is %+v", record)
	}
	checkSaid(t, phone.Heard(t), agentVoice, greeting)
}

// signInBrowser opens the link to a letter and signs it, in a browser without scripts.
func signInBrowser(t *testing.T, link, number string) {
	t.Helper()
	page := browser.Open(t, false)
	for range 2 { // the first visit simulates a mail scanner
		if status := page.Go(t, link); status != http.StatusOK {
			t.Fatalf("the page is answered with %d", status)
		}
	}
	if text := page.Text(t, "main"); !strings.Contains(text, number) || !strings.Contains(text, "1 Main Street") {
		t.Errorf("the page shows %q", text)
	}
	page.Resize(t, 320, 640)
	picture(t, page, "letter-narrow.png")
	page.Resize(t, 1280, 900)
	picture(t, page, "letter.png")
	page.Type(t, `input[name="signer_name"]`, "Robyn Doe")
	page.Click(t, `input[name="consent"]`)
	page.Click(t, `input[name="authority"]`)
	page.Click(t, `button[value="sign"]`)
	page.Await(t, `[role="alert"]`)
	if text := page.Text(t, `[role="alert"]`); !strings.Contains(text, "name") {
		t.Errorf("for another name the page says %q", text)
	}
	picture(t, page, "letter-wrong.png")
	page.Empty(t, `input[name="signer_name"]`)
	page.Type(t, `input[name="signer_name"]`, "robin doe")
	for _, box := range []string{"consent", "authority"} {
		if selector := `input[name="` + box + `"]`; !page.Checked(t, selector) {
			page.Click(t, selector)
		}
	}
	page.Click(t, `button[value="sign"]`)
	page.Await(t, "main:not(:has(form))")
	if text := page.Text(t, "h1"); !strings.Contains(text, "signed") {
		t.Errorf("after the signature the page says %q", text)
	}
	picture(t, page, "letter-signed.png")
	if status := page.Go(t, link); status != http.StatusOK || !strings.Contains(page.Text(t, "main"), "signed") {
		t.Errorf("the link shows %d %q afterwards", status, page.Text(t, "main"))
	}
}

// picture writes a screenshot to the folder CALLWRIGHT_TEST_PICTURES, if this is set.
func picture(t *testing.T, page *browser.Page, name string) {
	t.Helper()
	data := page.Screenshot(t)
	if folder := os.Getenv("CALLWRIGHT_TEST_PICTURES"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Error(err)
		}
	}
}

// checkSignedPDF checks the text of the signed letter, which poppler extracts.
func checkSignedPDF(t *testing.T, s *server.Server, id, number string) {
	t.Helper()
	status, body := s.Get(t, "/v1/sip/port/"+id+"/letter.pdf")
	if status != http.StatusOK {
		t.Fatalf("the letter is answered with %d %s", status, body)
	}
	cmd := exec.CommandContext(t.Context(), "pdftotext", "-layout", "-", "-")
	cmd.Stdin = strings.NewReader(body)
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{number, "robin doe", signerMail, "127.0.0.1", "1 Main Street"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the signed letter does not show %q: %s", want, text)
		}
	}
	if strings.Contains(string(text), "4711") || strings.Contains(string(text), "88231") {
		t.Errorf("the signed letter shows the PIN or the whole account number: %s", text)
	}
	if !strings.Contains(string(text), time.Now().UTC().Format("2006")) {
		t.Errorf("the signed letter has no date: %s", text)
	}
}
