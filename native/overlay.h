#ifndef DROPCLOTH_OVERLAY_H
#define DROPCLOTH_OVERLAY_H

/* Reports that all mounts are made, and how layers were named: `layers fd`, `str`, `legacy`, or `none` without any. */
void report_layers(void);

#endif
