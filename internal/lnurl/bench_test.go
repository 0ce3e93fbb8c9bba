package lnurl

import "testing"

func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{
		"bech32":     "lnurl1dp68gurn8ghj7um9wfmxjcm99e3k7mf0v9cxj0m385ekvcenxc6r2c35xvukxefcv5mkvv34x5ekzd3ev56nyd3hxqurzepexejxxepnxscrvwfnv9nxzcn9xq6xyefhvgcxxcmyxymnserxfq5fns",
		"scheme":     "lnurlp://service.com/path?id=7",
		"identifier": "satoshi@pay.example",
		"none":       "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(text); (err == nil) == (name == "none") {
					b.Fatal(err)
				}
			}
		})
	}
}
