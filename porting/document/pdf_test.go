package document_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/callwright/callwright"
)

func TestPDFsAreFlagged(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]struct{ locked, active bool }{
		"trailer << /Root 1 0 R /Encrypt 9 0 R >>":        {locked: true},
		"<</Encrypt<</Filter/Standard>>>>":                {locked: true},
		"<< /Encrypt":                                     {locked: true}, // the name ends at the end of the file
		"<< /EncryptMetadata false >>":                    {},
		"<< /Encrypted true >>":                           {},
		"<< /encrypt 9 0 R >>":                            {},
		"Encrypt 9 0 R":                                   {},
		"<< /S /JavaScript /JS (app.alert(1)) >>":         {active: true},
		"<</S/JavaScript>>":                               {active: true},
		"<</JS(app.alert\\(1\\))>>":                       {active: true},
		"<</JSON 1>>":                                     {},
		"<</Names [/J#53 1]>>":                            {active: true}, // #53 is the escaped letter S
		"<</#4a#61vaScript 1>>":                           {active: true},
		"<</J#5 1>>":                                      {},
		"<</JS#zz 1>>":                                    {},
		"<</x#5/JS 1>>":                                   {active: true},
		"<</J#zz 1>>":                                     {},
		"<< /S /Launch /F (cmd.exe) >>":                   {active: true},
		"<< /LaunchPad 1 >>":                              {},
		"<< /Type /EmbeddedFile >>":                       {active: true},
		"<< /Names << /EmbeddedFiles 4 0 R >> >>":         {active: true},
		"<< /EmbeddedFilesAndThenSome 4 0 R >>":           {},
		"//JS//Encrypt/":                                  {locked: true, active: true},
		"/" + strings.Repeat("x", 9000) + "/JS ":          {active: true},
		strings.Repeat("/Font ", 700) + "/Launch\n":       {active: true},
		"/Type /Page /MediaBox [0 0 612 792]":             {},
		strings.Repeat(" ", 4096-5-9-3) + "/Encrypt/JS[ ": {locked: true, active: true},
	} {
		file := "%PDF-1.7\n" + content
		h := newHouse(t)
		for name, r := range map[string]func() (locked, active bool){
			"at once": func() (bool, bool) {
				d := h.upload(t, "a", []byte(file))
				return d.Locked, d.Active
			},
			"byte by byte": func() (bool, bool) {
				d, err := h.Upload(t.Context(), "a", iotest.OneByteReader(strings.NewReader(file)))
				if err != nil {
					t.Fatal(err)
				}
				return d.Locked, d.Active
			},
		} {
			if locked, active := r(); locked != want.locked || active != want.active {
				t.Errorf("%s, %.60q is locked %t and active %t, want %+v", name, content, locked, active, want)
			}
		}
	}
}

// FuzzUpload checks that a file has the same result whether it is uploaded in one piece or in many: the same error code, or the same type,
// flags and stored bytes. Only PDFs may have flags.
func FuzzUpload(f *testing.F) {
	for _, test := range taken {
		f.Add(test.content, 3)
	}
	for _, content := range refused {
		f.Add(content, 1)
	}
	f.Add([]byte("%PDF-1.7 /Encrypt /J#53 /Launch//"), 2)
	f.Add([]byte{}, 1)
	f.Fuzz(func(t *testing.T, content []byte, piece int) {
		h := newHouse(t)
		whole, err := h.Upload(t.Context(), "a", bytes.NewReader(content))
		pieces, piecesErr := h.Upload(t.Context(), "a", &pieceReader{bytes.NewReader(content), 1 + piece&0xff})
		if callwright.CodeOf(err) != callwright.CodeOf(piecesErr) {
			t.Fatalf("at once %v, in pieces %v", err, piecesErr)
		}
		if err != nil {
			if !errors.Is(err, callwright.ErrUnsupportedMedia) && len(content) > 0 {
				t.Fatal(err)
			}
			return
		}
		pieces.ID = whole.ID
		if whole.Type != pieces.Type || whole.Locked != pieces.Locked || whole.Active != pieces.Active || whole.SHA256 != pieces.SHA256 {
			t.Errorf("at once %+v, in pieces %+v", whole, pieces)
		}
		if (whole.Locked || whole.Active) && !bytes.HasPrefix(content, []byte("%PDF-")) {
			t.Errorf("no PDF, but %+v", whole)
		}
		plain := func(name string) bool { return bytes.Contains(content, []byte("/"+name+" ")) }
		if whole.Type == "application/pdf" && (plain("Encrypt") && !whole.Locked || plain("JavaScript") && !whole.Active) {
			t.Errorf("not flagged: %+v", whole)
		}
		if got, err := h.read(t.Context(), "a", whole.ID); err != nil || !bytes.Equal(got, content) {
			t.Errorf("read as %q, %v", got, err)
		}
	})
}

// pieceReader is a reader that returns at most size bytes per call.
type pieceReader struct {
	*bytes.Reader

	size int
}

// Read reads at most size bytes.
func (r *pieceReader) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), r.size)]) }
