package document_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/callwright/callwright"
)

// taken contains accepted files with their media types. Upload must set no flags for them.
var taken = map[string]struct {
	content   []byte
	mediaType string
}{
	"PDF":                       {[]byte("%PDF-1.7\n1 0 obj\n<<>>\nendobj\n"), "application/pdf"},
	"PDF of its mark alone":     {[]byte("%PDF-"), "application/pdf"},
	"JPEG":                      {[]byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00"), "image/jpeg"},
	"PNG":                       {[]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), "image/png"},
	"GIF of 1987":               {[]byte("GIF87a\x01\x00\x01\x00"), "image/gif"},
	"GIF of 1989":               {[]byte("GIF89a\x01\x00\x01\x00"), "image/gif"},
	"WebP, lossy":               {[]byte("RIFF\x24\x00\x00\x00WEBPVP8 \x18\x00\x00\x00"), "image/webp"},
	"WebP, lossless":            {[]byte("RIFF\x24\x00\x00\x00WEBPVP8L\x18\x00\x00\x00"), "image/webp"},
	"WebP, extended":            {[]byte("RIFF\x24\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00"), "image/webp"},
	"TIFF, little-endian":       {[]byte("II*\x00\x08\x00\x00\x00\x00\x00"), "image/tiff"},
	"TIFF, big-endian":          {[]byte("MM\x00*\x00\x00\x00\x08\x00\x00"), "image/tiff"},
	"HEIC of a telephone":       {ftyp("heic", "mif1", "heic"), "image/heic"},
	"HEIC, 10 bits":             {ftyp("heix", "mif1", "heix"), "image/heic"},
	"HEIC, multiview":           {ftyp("heim"), "image/heic"},
	"HEIC, scalable":            {ftyp("heis"), "image/heic"},
	"HEIC, sequence":            {ftyp("hevc", "msf1"), "image/heic-sequence"},
	"HEIF":                      {ftyp("mif1", "mif1", "heic"), "image/heif"},
	"HEIF, sequence":            {ftyp("msf1", "msf1", "hevc"), "image/heif-sequence"},
	"JPEG and then HTML":        {[]byte("\xff\xd8\xff\xe0<html><script>alert(1)</script>"), "image/jpeg"},
	"GIF and then JavaScript":   {[]byte("GIF89a/*\x00*/=1;alert(1)"), "image/gif"},
	"PNG and then a ZIP":        {[]byte("\x89PNG\r\n\x1a\nPK\x03\x04PK\x05\x06"), "image/png"},
	"PDF and then HTML":         {[]byte("%PDF-1.4\n<html><script>alert(1)</script>"), "application/pdf"},
	"JPEG and then a PDF":       {[]byte("\xff\xd8\xff\xe0%PDF-1.4 /JavaScript /Encrypt "), "image/jpeg"},
	"HEIC and then an AVIF box": {append(ftyp("heic"), ftyp("avif")...), "image/heic"},
}

// refused contains files that Upload must refuse.
var refused = map[string][]byte{
	"a single byte":              []byte("%"),
	"half a mark of PDF":         []byte("%PDF"),
	"PDF at offset 1":            []byte("\n%PDF-1.7\n"),
	"PDF at offset 10":           []byte("0123456789%PDF-1.7\n"),
	"PDF after a BOM":            []byte("\xef\xbb\xbf%PDF-1.7\n"),
	"PDF in lower case":          []byte("%pdf-1.7\n"),
	"FDF":                        []byte("%FDF-1.2\n"),
	"PostScript":                 []byte("%!PS-Adobe-3.0\n"),
	"SVG":                        []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
	"SVG with a prolog":          []byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`),
	"HTML":                       []byte("<!DOCTYPE html><html></html>"),
	"HTML that mentions a PDF":   []byte("<!-- %PDF-1.4 --><html></html>"),
	"ZIP":                        []byte("PK\x03\x04\x14\x00"),
	"ZIP with a PDF":             []byte("PK\x03\x04\x14\x00%PDF-1.7"),
	"text":                       []byte("Dear carrier,\n"),
	"RTF":                        []byte(`{\rtf1}`),
	"executable":                 []byte("MZ\x90\x00\x03\x00\x00\x00\x04\x00"),
	"ELF":                        []byte("\x7fELF\x02\x01\x01\x00"),
	"BMP":                        []byte("BM\x00\x00\x00\x00\x00\x00\x00\x00"),
	"two bytes of a JPEG":        []byte("\xff\xd8"),
	"PNG with changed line ends": []byte("\x89PNG\n\x1a\n\x00\x00\x00\rIHDR"),
	"GIF of 1988":                []byte("GIF88a\x01\x00"),
	"RIFF of sound":              []byte("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00"),
	"WebP of another chunk":      []byte("RIFF\x24\x00\x00\x00WEBPEXIF\x10\x00\x00\x00"),
	"BigTIFF, little-endian":     []byte("II+\x00\x08\x00\x00\x00\x10\x00\x00\x00"),
	"BigTIFF, big-endian":        []byte("MM\x00+\x00\x08\x00\x00\x00\x00\x00\x10"),
	"TIFF without its directory": []byte("II*\x00\x00\x00\x00\x00"),
	"half a header of TIFF":      []byte("II*\x00\x08"),
	"AVIF":                       ftyp("avif", "mif1", "miaf"),
	"AVIF of images":             ftyp("mif1", "mif1", "avif", "miaf"),
	"AVIF, sequence":             ftyp("msf1", "avis"),
	"MP4":                        ftyp("isom", "iso2", "avc1", "mp41"),
	"MP4 with a picture":         ftyp("mp42", "heic"),
	"QuickTime":                  ftyp("qt  "),
	"HEIC with a broken size":    []byte("\x00\x00\x00\x09ftypheic\x00\x00\x00\x00"),
	"HEIC with an odd size":      []byte("\x00\x00\x00\x11ftypheic\x00\x00\x00\x00\x00"),
	"half a box of HEIC":         []byte("\x00\x00\x00\x18ftyphei"),
}

func TestTypesThatAreTaken(t *testing.T) {
	t.Parallel()
	for name, test := range taken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			d := h.upload(t, "a", test.content)
			if d.Type != test.mediaType || d.Locked || d.Active {
				t.Errorf("it is %+v, want %s without flags", d, test.mediaType)
			}
			again, err := h.Upload(t.Context(), "a", iotest.OneByteReader(bytes.NewReader(test.content)))
			if err != nil || again.Type != d.Type || again.SHA256 != d.SHA256 {
				t.Errorf("byte by byte it is %+v, %v", again, err)
			}
			if got, err := h.read(t.Context(), "a", d.ID); err != nil || !bytes.Equal(got, test.content) {
				t.Errorf("it is read as %q, %v", got, err)
			}
		})
	}
}

func TestTypesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, content := range refused {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			uploads := [][]byte{content}
			if !strings.HasPrefix(name, "half") && len(content) > 0 {
				uploads = append(uploads, append(bytes.Clone(content), strings.Repeat("%PDF-1.7 ", 20_000)...))
			}
			for _, full := range uploads {
				_, err := h.Upload(t.Context(), "a", bytes.NewReader(full))
				e, ok := errors.AsType[*callwright.Error](err)
				if !ok || e.Code != callwright.CodeUnsupportedMedia || e.Field != "file" {
					t.Errorf("%d bytes gave %v", len(full), err)
				}
			}
			if kept := h.kept(t); len(kept) > 0 {
				t.Errorf("%v are kept", kept)
			}
		})
	}
}
