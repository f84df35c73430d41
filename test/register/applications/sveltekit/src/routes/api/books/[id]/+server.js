import { json } from '@sveltejs/kit';

export const GET = ({ params }) => json({ title: `book ${params.id}` });
