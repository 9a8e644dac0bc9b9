package letterpdf_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/letterpdf"
	"github.com/callwright/callwright/porting/loa"
)

// letter returns the text of a letter that lists the given number of phone numbers.
func letter(numbers int) loa.Text {
	t := loa.Text{
		Title: "Letter of authorization to port telephone numbers",
		Facts: []loa.Fact{
			{Name: "Request", Value: "port_0192f3c47a5b7c8d9e0f112233445566"},
			{Name: "Date", Value: "2 March 2026"},
			{Name: "Customer", Value: "Łukasiewicz & Söhne Bakery"},
			{Name: "Authorized representative", Value: "Žofie Łukasiewicz"},
			{Name: "E-mail", Value: "zofie@example.com"},
			{Name: "Account number", Value: "****8231"},
			{Name: "Service address", Value: "1 Main Street, Suite 400\nOakland, CA 94607\nUS"},
			{Name: "Date asked for", Value: "16 March 2026"},
		},
		Paragraphs: []string{
			"I am authorized to act for the account that is named above, and I ask that its telephone numbers listed here are ported " +
				"from the present carrier to the carrier of this service.",
			"I appoint the operator of this service as agent for the change. It may give the present carrier the facts above and ask it for " +
				"the records of the account, as far as the change needs them.",
			"I understand that each number can have one carrier for a kind of service, that a fee may apply, and that the service of the " +
				"present carrier is to be kept until the numbers are ported.",
		},
	}
	for i := range numbers {
		t.Numbers = append(t.Numbers, fmt.Sprintf("+1415555%04d", 100+i))
	}
	return t
}

func certificate() loa.Certificate {
	return loa.Certificate{
		Letter: strings.Repeat("0123456789abcdef", 4), Name: "Žofie Łukasiewicz", Title: "Managing Director", Email: "zofie@example.com",
		SignedAt: time.Date(2026, 3, 3, 10, 4, 5, 0, time.FixedZone("", 2*60*60)),
		Origin: loa.Origin{
			IP:        "2001:db8::7",
			UserAgent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 \x00漢",
		},
		Disclosure: "I agree to sign this letter electronically, and to get it as a file. I can ask for it on paper instead.",
		Trail:      strings.Repeat("fedcba9876543210", 4),
	}
}

func newRenderer(t testing.TB) *letterpdf.Renderer {
	t.Helper()
	r, err := letterpdf.New()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// render returns the PDF of a letter, which is unsigned if c is nil.
func render(t *testing.T, text loa.Text, c *loa.Certificate) []byte {
	t.Helper()
	var pdf []byte
	var err error
	if r := newRenderer(t); c == nil {
		pdf, err = r.RenderLetter(t.Context(), text)
	} else {
		pdf, err = r.RenderSigned(t.Context(), text, *c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pdf
}

// poppler runs a program of Poppler on a PDF, and returns the program's output and working directory. It fails the test if the program
// fails or is not installed.
func poppler(t *testing.T, pdf []byte, program string, args ...string) (out, folder string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("%v: scripts/install-deps.sh test installs poppler", err)
	}
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "in.pdf"), pdf, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = folder
	raw, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", program, err, raw)
	}
	return string(raw), folder
}

// pages returns the text of each page, in the physical layout of the page.
func pages(t *testing.T, pdf []byte) []string {
	t.Helper()
	out, _ := poppler(t, pdf, "pdftotext", "-layout", "in.pdf", "-")
	return strings.Split(strings.TrimSuffix(out, "\f"), "\f")
}

// pagesAsRead returns the text of each page, in the order of the content stream. Screen readers use that order.
func pagesAsRead(t *testing.T, pdf []byte) []string {
	t.Helper()
	out, _ := poppler(t, pdf, "pdftotext", "-raw", "in.pdf", "-")
	return strings.Split(strings.TrimSuffix(out, "\f"), "\f")
}
