module github.com/callwright/callwright/adapters/mail

go 1.26.8

require (
	github.com/callwright/callwright v0.0.0
	github.com/emersion/go-smtp v0.25.1
	github.com/wneessen/go-mail v0.8.1
)

require (
	github.com/emersion/go-sasl v0.0.0-20241020182733-b788ff22d5a6 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)
