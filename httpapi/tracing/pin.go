//go:build pin

package tracing

// No program is built with this file. lnd's wallet packages, whose tests an importer's
// `go mod tidy` resolves, reach an etcd that asks for a version of this module that is too
// old to stand beside the other exporters that this package uses.
import _ "go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
