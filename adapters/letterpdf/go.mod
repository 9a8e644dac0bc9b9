module github.com/callwright/callwright/adapters/letterpdf

go 1.26.8

require (
	codeberg.org/go-pdf/fpdf v0.12.0
	github.com/callwright/callwright v0.0.0
	github.com/go-fonts/liberation v0.3.3
	golang.org/x/image v0.48.0
	golang.org/x/text v0.44.0
)

require go.uber.org/goleak v1.3.0 // indirect
