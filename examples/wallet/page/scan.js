// Scanning a QR code with the camera, where the browser can read codes (BarcodeDetector).
import { $ } from './dom.js';

export const canScan = () => 'BarcodeDetector' in window && Boolean(navigator.mediaDevices?.getUserMedia);

// scan shows the camera until a code is read or the user ends it: the code's text, or null.
export async function scan() {
  const dialog = $('scan-dialog'), video = $('scan-video');
  const detector = new window.BarcodeDetector({ formats: ['qr_code'] });
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } }).catch(() => {
    throw new Error('The camera was not allowed. Paste the text instead.');
  });
  try {
    video.srcObject = stream;
    dialog.showModal();
    video.play().catch(() => {}); // it may take until there are pictures, or be closed before
    while (dialog.open) {
      const [code] = await detector.detect(video).catch(() => []);
      if (code) return code.rawValue;
      await new Promise((next) => setTimeout(next, 200));
    }
    return null;
  } finally {
    for (const track of stream.getTracks()) track.stop();
    video.srcObject = null;
    dialog.close();
  }
}
